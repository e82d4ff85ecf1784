import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml'

/** Renders docs/chart.md from the comments and defaults of charts/kapis/values.yaml. */
export function renderChart(values: string): string {
  const { contents } = parseDocument(values)
  if (!isMap(contents)) throw new Error('charts/kapis/values.yaml is not a mapping')
  return `# Chart values

<!-- Made by \`make update\` from charts/kapis/values.yaml; \`make verify\` checks it. -->

The chart has the same objects as the overlays of [manifests](installation.md#apply). Set values with \`--set\` or \`--values\` of
\`helm install\` and \`helm upgrade\`.

| value | default | description |
|---|---|---|
${rowsOf(contents, '').join('\n')}
`
}

function rowsOf(map: YAMLMap, prefix: string): readonly string[] {
  return map.items.flatMap((pair, i) => {
    if (!isScalar(pair.key)) throw new Error('a key of charts/kapis/values.yaml is not a string')
    const name = `${prefix}${String(pair.key.value)}`
    if (isMap(pair.value) && pair.value.items.length > 0) return rowsOf(pair.value, `${name}.`)
    // The YAML parser attaches the comment before the first field to the mapping.
    const comment = pair.key.commentBefore ?? (i === 0 ? map.commentBefore : undefined) ?? ''
    if (comment === '') throw new Error(`${name} of charts/kapis/values.yaml has no comment`)
    const value = isScalar(pair.value) ? JSON.stringify(pair.value.value) : '{}'
    return [`| \`${name}\` | \`${value}\` | ${comment.replaceAll(/\s+/g, ' ').trim()} |`]
  })
}
