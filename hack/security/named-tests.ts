/** A test that a document refers to: its file, and literal words of its title. */
export type NamedTest = { readonly file: string; readonly title: string; readonly line: number }

/** Returns every title in `file`: "title", "title". */
export function findNamedTests(text: string): readonly NamedTest[] {
  const lists = text.matchAll(/`([\w./-]+\.ts)`: ("[^"]+"(?:(?:,| and) "[^"]+")*)/g)
  return [...lists].flatMap(({ 1: file = '', 2: titles = '', index }) => {
    const line = text.slice(0, index).split('\n').length
    return [...titles.matchAll(/"([^"]+)"/g)].map(({ 1: title = '' }) => ({ file, title, line }))
  })
}

/**
 * Returns the problem of a reference to a test; undefined if the file contains the title.
 *
 * @param source the text of the test file; undefined if it does not exist
 */
export function findProblem({ file, title }: NamedTest, source: string | undefined): string | undefined {
  if (source === undefined) return `${file} does not exist`
  // An apostrophe is escaped in a string with single quotes.
  return source.replaceAll("\\'", "'").includes(title) ? undefined : `${file} has no test "${title}"`
}
