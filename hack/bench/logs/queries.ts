import { daySeconds } from './lines.ts'

/** Name, parameters of the log API, and the allowed multiple of OpenSearch's time (1). */
export type Query = readonly [name: string, query: string, target?: number]

// Allowed multiple for queries that read every line, while OpenSearch has an index of substrings.
const scan = 3

/**
 * Returns the queries for both stores. `{n}` is replaced by the number of the round, since caches
 * may respond to repeated queries.
 *
 * @param end the Unix second at the end of the day of the lines
 */
export function queries(end: number): readonly Query[] {
  const sixHours = `start_time=${end - 12 * 3600}&end_time=${end - 6 * 3600}`
  return [
    [
      'phrase, one namespace, 6 h, newest 100',
      `q=%22connection+refused%22&namespaces=ns-7&${sixHours}&size=100`,
    ],
    ['frequent word, the same', `q=error&namespaces=ns-7&${sixHours}&size=100`],
    ['absent word', 'q=absentword&size=100'],
    ['absent word, a new one each time', 'q=absent{n}word&size=100'],
    ['rare word, 11 lines', 'q=kernelpanic&size=100'],
    ['number in ten lines, a new one each time', 'q=4{n}0123&size=100'],
    ['count of a frequent word over all', 'q=error&size=1'],
    ['30-minute histogram over all', 'operation=histogram&interval=30m'],
    ['the same, one namespace', 'operation=histogram&interval=30m&namespaces=ns-7'],
    ['histogram by hour of a frequent word', 'operation=histogram&interval=1h&q=error'],
    ['distinct containers', 'operation=statistics'],
    ['newest 100 of one namespace', 'namespaces=ns-7&size=100'],
    ['phrase of frequent words over all, newest 10', 'log_query=timeout%20aft'],
    [
      'frequent word, 1 h of the day',
      `q=error&start_time=${end - daySeconds / 2}&end_time=${end - daySeconds / 2 + 3600}&size=100`,
    ],
    ['substring of a fifth of all lines', `q=${encodeURIComponent('*"onnection ref"*')}&size=100`, scan],
    ['substring of 11 lines', `q=${encodeURIComponent('*ernelpani*')}&size=100`, scan],
    ['expression over all, a new one each time', `q=${encodeURIComponent('/=1.*u49[^{n}]/')}&size=100`, scan],
  ]
}
