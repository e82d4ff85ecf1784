import { RE2JS, RE2JSException } from 're2js'
import { regexSize } from './size.ts'

/** An invalid regular expression. The message begins in lower case and has no final period. */
export class RegexError extends Error {}

// Maximum number of instructions, which determine time and memory.
const maxInstructions = 5000

/**
 * Compiles a regular expression that takes time proportional to the length of the text. The syntax
 * is that of RE2 (https://github.com/google/re2/wiki/Syntax), plus \uHHHH. `$` also matches before
 * a final line break unless `end` is `strict`.
 *
 * @throws RegexError
 */
export function compileRegex(
  source: string,
  caseSensitive: boolean,
  end: 'lenient' | 'strict' = 'lenient',
): (text: string) => boolean {
  const pattern = withCodePoints(source)
  // Checked before compiling, because compiling a large expression would take seconds.
  if (regexSize(pattern, maxInstructions) > maxInstructions) throw tooLarge()
  const regex = compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  if (regex.programSize() > maxInstructions) throw tooLarge()
  const mayEnd = end === 'lenient' && /\$|\\z/.test(source)
  return text => regex.test(text) || (mayEnd && text.endsWith('\n') && regex.test(text.slice(0, -1)))
}

function tooLarge(): RegexError {
  return new RegexError('invalid regular expression: too large')
}

function compile(source: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(source, flags)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const reason = error.message.replace('error parsing regexp: ', '')
    // RE2 adds flags to the expression in its messages.
    throw new RegexError(`invalid regular expression: ${reason.replace(/`\(\?i\)/, '`')}`)
  }
}

/** Returns the estimated size of an expression in instructions. */
export function costOfRegex(source: string): number {
  return regexSize(withCodePoints(source), maxInstructions)
}

/** Replaces \uHHHH of JavaScript and Java by \x{HHHH} of RE2. */
function withCodePoints(source: string): string {
  return source.replace(/\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|.)/gs, (found, four, more) => {
    const code = four ?? more
    return code === undefined ? found : `\\x{${code}}`
  })
}
