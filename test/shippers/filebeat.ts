import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { follow, setting } from '../e2e/run.ts'
import type { FileShipper } from './followed-file.ts'
import { ingestPath } from './scene.ts'
import { filebeatProgram } from './tools.ts'

export const filebeat: FileShipper = {
  title: 'Filebeat',
  async start({ scene, file, folder }) {
    const input = {
      ...{ type: 'filestream', id: 'app', paths: [file], 'prospector.scanner.check_interval': '1s' },
      parsers: [{ ndjson: { target: '', overwrite_keys: true, add_error_key: true } }],
    }
    const config = {
      'filebeat.inputs': [input],
      'path.data': join(folder, 'data'),
      'output.elasticsearch': {
        ...{ hosts: [`${scene.url}${ingestPath}`], 'ssl.certificate_authorities': [setting('KAPIS_CA')] },
        ...{ headers: { Authorization: `Bearer ${scene.token}` }, 'backoff.max': '5s' },
      },
    }
    const configFile = join(folder, 'filebeat.json')
    writeFileSync(configFile, JSON.stringify(config), { mode: 0o600 })
    return follow(await filebeatProgram(), ['-e', '-c', configFile])
  },
  // One batch when the connection is cut and one at the SIGKILL, each of at most 50 lines.
  repeats: 100,
  adds: /^(?:agent|ecs|host|input|log)\./,
}
