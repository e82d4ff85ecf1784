import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { follow, setting } from '../e2e/run.ts'
import type { FileShipper } from './followed-file.ts'
import { ingestPath } from './scene.ts'
import type { Shape } from './shapes.ts'
import { syslogNgProgram } from './tools.ts'

export const syslogNg: FileShipper = {
  title: 'elasticsearch-http of syslog-ng',
  async start({ scene, file, folder }) {
    const { folder: root, program, env } = await syslogNgProgram()
    // With times in whole seconds, a batch of one line would be treated as a repetition of an equal
    // batch.
    const config = `@version: 3.38
@include "${join(root, 'usr/share/syslog-ng/include/scl/elasticsearch/elastic-http.conf')}"
options { log-msg-size(1048576); time-reopen(2); stats-freq(0); frac-digits(6); };
source app { file("${file}" follow-freq(1) flags(no-parse) log-fetch-limit(1000)); };
parser json { json-parser(prefix(".json.")); };
destination kapis {
  elasticsearch-http(
    url("${scene.url}${ingestPath}/_bulk") index("logs") type("") timeout(30)
    headers("Content-Type: application/x-ndjson", "Authorization: Bearer ${scene.token}")
    tls(ca-file("${setting('KAPIS_CA')}"))
    template("$(format-json --key .json.* --shift-levels 2 @timestamp=$R_ISODATE)")
    retries(1000)
  );
};
log { source(app); parser(json); destination(kapis); flags(flow-control); };
`
    const configFile = join(folder, 'syslog-ng.conf')
    writeFileSync(configFile, config, { mode: 0o600 })
    const own = (name: string) => join(folder, name)
    const args = [
      '-F',
      '--no-caps',
      '-f',
      configFile,
      '-R',
      own('persist'),
      '-p',
      own('pid'),
      '-c',
      own('ctl'),
    ]
    const modules = join(root, 'usr/lib/syslog-ng/3.38')
    return follow(program, [...args, `--module-path=${modules}`], { env })
  },
  // Version 3 only supports text values: lists are joined by commas, and null is empty.
  convert: shape => ({ ...shape, fields: { ...toTexts(shape.fields), ...nullsOf(shape.line) } }),
}

function toTexts(fields: Shape['fields']): Shape['fields'] {
  const toText = (value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(6) : String(value)
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toText(value)]))
}

function nullsOf(line: string): Shape['fields'] {
  const isNothing = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)
  const names = Object.entries(JSON.parse(line)).filter(([, value]) => isNothing(value))
  return Object.fromEntries(names.map(([name]) => [name, '']))
}
