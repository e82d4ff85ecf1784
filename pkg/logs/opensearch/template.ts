// The word pattern of wordsOf in Java syntax. Lucene limits the length of terms, so longer words
// are truncated.
const words = '[\\p{IsHan}\\p{IsHiragana}]|[\\p{L}\\p{N}\\p{M}&&[^\\p{IsHan}\\p{IsHiragana}]]+'
const longestTerm = 8000

/**
 * Returns the index template of `<prefix>-*`: times in nanoseconds, words as in `wordsOf`, and each
 * line as a whole for substrings and regular expressions.
 *
 * @param rawType `wildcard`, which has an n-gram index; `keyword` for search engines without it
 */
export function indexTemplate(prefix: string, rawType: 'wildcard' | 'keyword'): object {
  const name = {
    type: 'text',
    analyzer: 'kapis_words',
    fields: { keyword: { type: 'keyword', ignore_above: 1024 } },
  }
  const id = { type: 'keyword', fields: { keyword: { type: 'keyword' } } }
  return {
    index_patterns: [`${prefix}-*`],
    priority: 50,
    template: {
      settings: {
        'index.refresh_interval': '500ms',
        'index.analysis': {
          tokenizer: { kapis_words: { type: 'pattern', pattern: words, group: 0 } },
          filter: { kapis_short: { type: 'truncate', length: longestTerm } },
          analyzer: {
            kapis_words: { type: 'custom', tokenizer: 'kapis_words', filter: ['lowercase', 'kapis_short'] },
          },
        },
      },
      mappings: {
        properties: {
          '@timestamp': { type: 'date_nanos' },
          time: { type: 'date_nanos' },
          log: {
            type: 'text',
            analyzer: 'kapis_words',
            fields: { raw: { type: rawType, ignore_above: longestTerm } },
          },
          // Not indexed by name: a field per name would create as many fields as senders choose.
          fields: { type: 'object', enabled: false },
          field_pairs: { type: rawType, ignore_above: longestTerm },
          kubernetes: {
            properties: {
              namespace_name: name,
              pod_name: name,
              container_name: name,
              host: name,
              docker_id: id,
              // Not indexed by name: a field per label would create as many fields as the cluster
              // has labels.
              labels: { type: 'object', enabled: false },
              label_pairs: { type: 'keyword', ignore_above: 1024 },
            },
          },
        },
      },
    },
  }
}
