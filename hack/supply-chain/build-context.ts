/**
 * Returns problems of the build context of a Dockerfile: missing files, files that .dockerignore
 * excludes, and unused entries of .dockerignore. Without Docker such errors would not be noticed.
 *
 * @param ignore text of a .dockerignore that begins with `*` and re-includes by `!path`
 */
export function contextFaults(
  { file, text }: { readonly file: string; readonly text: string },
  ignore: string,
  exists: (path: string) => boolean,
): readonly string[] {
  const letIn = [...ignore.matchAll(/^!(\S+)$/gm)].map(([, path = '']) => path)
  const taken = [...text.replaceAll(/\\\n/g, ' ').matchAll(/^COPY\s+(?!.*--from=)(.*)$/gim)].flatMap(
    ([, rest = '']) =>
      rest
        .trim()
        .split(/\s+/)
        .filter(word => !word.startsWith('--'))
        .slice(0, -1),
  )
  const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
  return [
    ...taken.filter(path => !exists(path)).map(path => `${file}: there is no ${path}`),
    ...taken
      .filter(path => exists(path) && !letIn.some(folder => isWithin(path, folder)))
      .map(path => `${file}: .dockerignore keeps ${path} back`),
    ...letIn
      .filter(path => !taken.some(folder => isWithin(path, folder)))
      .map(path => `.dockerignore: ${file} does not take ${path}`),
  ]
}
