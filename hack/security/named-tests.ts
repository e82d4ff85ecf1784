/** A test that a document names: its file, and literal words of its title. */
export type NamedTest = { readonly file: string; readonly title: string; readonly line: number }

/** Every `file`: "title" of a text. */
export function findNamedTests(text: string): readonly NamedTest[] {
  return [...text.matchAll(/`([\w./-]+\.ts)`: "([^"]+)"/g)].map(({ 1: file = '', 2: title = '', index }) => ({
    file,
    title,
    line: text.slice(0, index).split('\n').length,
  }))
}

/**
 * Returns what is wrong with a reference to a test; undefined if the test exists. The text must be
 * in a title.
 *
 * @param source the text of the test file; undefined if it does not exist
 */
export function faultOf({ file, title }: NamedTest, source: string | undefined): string | undefined {
  if (source === undefined) return `there is no ${file}`
  // In a literal with single quotes, an apostrophe is escaped.
  return source.replaceAll("\\'", "'").includes(title) ? undefined : `${file} has no test "${title}"`
}
