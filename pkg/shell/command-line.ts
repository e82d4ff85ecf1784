// A word of these alone means itself in every shell. zsh expands a = that a word begins with.
const plain = /^(?!=)[\w@%+=:,./-]+$/

/**
 * A command line for a POSIX shell, to be printed and pasted: a word that is not plain is put between single quotes, in which
 * a shell expands nothing (POSIX.1-2024, Shell Command Language, section 2.2.2).
 */
export function commandLine(...words: readonly string[]): string {
  return words.map(quote).join(' ')
}

function quote(word: string): string {
  return plain.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
