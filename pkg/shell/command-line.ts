// Characters without special meaning in any shell. A leading = is excluded, since zsh expands it.
const plain = /^(?!=)[\w@%+=:,./-]+$/

/**
 * Formats a command line for a POSIX shell: words with special characters are put in single quotes,
 * within which a shell expands nothing (POSIX.1-2024, Shell Command Language, section 2.2.2).
 */
export function commandLine(...words: readonly string[]): string {
  return words.map(quote).join(' ')
}

function quote(word: string): string {
  return plain.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
