import { expect } from 'chai'
import { emailProblem, groupProblem, nameProblem, passwordProblem } from './user-validation.ts'

function table(
  rule: (value: string) => string | undefined,
  { valid, invalid }: { valid: readonly string[]; invalid: readonly string[] },
): void {
  for (const value of valid) {
    it(`allows ${JSON.stringify(value.slice(0, 80))}`, () => {
      expect(rule(value)).to.equal(undefined)
    })
  }
  for (const value of invalid) {
    it(`rejects ${JSON.stringify(value.slice(0, 80))}`, () => {
      expect(rule(value)).to.be.a('string')
    })
  }
}

describe('nameProblem', () => {
  table(nameProblem, {
    valid: ['a', 'alice', 'alice-2', 'a.b', '0', 'x'.repeat(63)],
    invalid: [
      '',
      'Alice',
      'a_b',
      '-a',
      'a-',
      '.a',
      'a.',
      'a..b',
      'a b',
      'a/b',
      'system:admin',
      'é',
      'x'.repeat(64),
      'a\n',
    ],
  })
})

describe('emailProblem', () => {
  table(emailProblem, {
    valid: ['a@b', 'alice@example.org', 'a.b+c@x.example.org', "o'neil@example.org", `${'a'.repeat(64)}@b.c`],
    invalid: [
      ...[
        '',
        'a',
        '@',
        'a@',
        '@b',
        'a@@b',
        'a b@c',
        'a@b c',
        'a@-b',
        'a@b-',
        'a@b..c',
        '.a@b',
        'a.@b',
        'a..b@c',
      ],
      ...[
        'a@b\n',
        'a@b,c@d',
        '<a@b>',
        'ä@b',
        `${'a'.repeat(65)}@b.c`,
        `a@${'b'.repeat(64)}.c`,
        `a@${'b.'.repeat(130)}c`,
      ],
    ],
  })
})

describe('passwordProblem', () => {
  table(passwordProblem, {
    valid: ['Abcdefg1', 'P@88w0rd', 'Ägypten 1', `aA1${'x'.repeat(61)}`, 'Пароль12'],
    invalid: [
      `$2b$10$${'Aa1'.repeat(17)}Aa`,
      '$2y$04$Aa1',
      '$2a$99$Aa1aaaaa',
      '',
      'Abcdef1',
      'abcdefg1',
      'ABCDEFG1',
      'Abcdefgh',
      `aA1${'x'.repeat(62)}`,
      `aA1${'€'.repeat(24)}`,
    ],
  })
})

describe('groupProblem', () => {
  table(groupProblem, {
    valid: ['dev', 'Team A', 'x'.repeat(253)],
    invalid: [
      ...['', 'system:masters', 'system:', 'x'.repeat(254)],
      // Names that a parser of a header might read as system:masters or dev.
      ...[
        ' system:masters',
        '\tsystem:masters',
        '\u00a0system:masters',
        '\u2003system:masters',
        'dev ',
        'dev\t',
      ],
      ...[
        ' ',
        '\ufeffdev',
        'dev\n',
        'a\rb',
        'a\0b',
        'a\u007fb',
        'a\u0085b',
        'a\u2028b',
        'dev\ud800',
        'dev\u200b',
      ],
    ],
  })
})
