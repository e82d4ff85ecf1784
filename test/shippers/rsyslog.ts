import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kubectlOutput } from '../e2e/cluster.ts'
import { makeUser } from '../e2e/http.ts'
import { follow, setting } from '../e2e/run.ts'
import type { FileShipper } from './followed-file.ts'
import { ingestPath } from './scene.ts'
import { rsyslogProgram } from './tools.ts'

export const rsyslog: FileShipper = {
  title: 'omelasticsearch of rsyslog, which keeps its permission',
  async start({ scene, file, folder }) {
    // It only supports a user name and a password. It writes rejected lines to its errorFile and
    // does not resend them, so the permission is not revoked during the test.
    const user = scene.namespace
    await makeUser(user)
    await kubectlOutput(
      ...['create', 'clusterrolebinding', `${user}-user`, '--clusterrole=kapis:log-shipper'],
      `--user=${user}`,
    )
    const program = await rsyslogProgram()
    const config = `
global(workDirectory="${folder}" maxMessageSize="1m")
module(load="imfile" mode="inotify")
module(load="mmjsonparse")
module(load="omelasticsearch")
template(name="document" type="string" string="%$!all-json-plain%")
ruleset(name="ship") {
  action(type="mmjsonparse" cookie="")
  action(type="omelasticsearch" server="${scene.url}${ingestPath}" tls.cacert="${setting('KAPIS_CA')}"
    uid="${user}" pwd="${setting('KAPIS_PASSWORD')}" bulkmode="on" searchIndex="logs" searchType=""
    template="document" errorFile="${join(folder, 'refused.json')}"
    queue.type="linkedList" queue.size="100000" action.resumeRetryCount="-1" action.resumeInterval="2")
}
input(type="imfile" File="${file}" Tag="app:" ruleset="ship")
`
    const configFile = join(folder, 'rsyslog.conf')
    writeFileSync(configFile, config, { mode: 0o600 })
    const modules = join(program.folder, 'usr/lib/x86_64-linux-gnu/rsyslog')
    const args = ['-n', '-f', configFile, '-i', join(folder, 'pid'), '-M', modules]
    return follow(program.program, args, { env: program.env })
  },
  // One batch when the connection is cut and one at the SIGKILL, each of at most 128 lines.
  repeats: 256,
  adds: /^metadata\./,
}
