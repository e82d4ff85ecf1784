import { RE2JS, RE2JSException } from 're2js'
import { regexSize } from './size.ts'

/** An invalid regular expression. The message begins in lower case and has no period. */
export class RegexError extends Error {}

// Limit of instructions, which determine time and memory.
const maxInstructions = 5000

/**
 * Compiles a regular expression that matches in time proportional to the text. The syntax is that
 * of RE2 (https://github.com/google/re2/wiki/Syntax), plus \uHHHH. `$` also matches before a final
 * line break, unless it is `strict`.
 *
 * @throws RegexError
 */
export function compileRegex(
  source: string,
  caseSensitive: boolean,
  end: 'lenient' | 'strict' = 'lenient',
): (text: string) => boolean {
  const pattern = withCodePoints(source)
  // Checked before compiling, which would take seconds.
  if (regexSize(pattern, maxInstructions) > maxInstructions) throw tooLarge()
  const regex = compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  if (regex.programSize() > maxInstructions) throw tooLarge()
  const mayEnd = end === 'lenient' && /\$|\\z/.test(source)
  return text => regex.test(text) || (mayEnd && text.endsWith('\n') && regex.test(text.slice(0, -1)))
}

function tooLarge(): RegexError {
  return new RegexError('invalid regular expression: it is too large')
}

function compile(source: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(source, flags)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const reason = error.message.replace('error parsing regexp: ', '')
    // RE2 writes flags into the expression.
    throw new RegexError(`invalid regular expression: ${reason.replace(/`\(\?i\)/, '`')}`)
  }
}

/** The size of an expression in instructions. */
export function costOfRegex(source: string): number {
  return regexSize(withCodePoints(source), maxInstructions)
}

/** RE2 uses \x{HHHH} for \uHHHH of JavaScript and Java. */
function withCodePoints(source: string): string {
  return source.replace(/\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|.)/gs, (found, four, more) => {
    const code = four ?? more
    return code === undefined ? found : `\\x{${code}}`
  })
}
