import { isatty } from 'node:tty'
import { startControlPlane } from './control-plane.ts'
import { interrupted, orAborted } from './processes/interrupted.ts'
import { createProcessRecords } from './processes/records.ts'
import { loadSettings, type Settings } from './settings.ts'
import { isInUse } from './stop.ts'

// make run: runs everything in the foreground, until Ctrl-C or until a program exits.

const parent = process.ppid
const terminals = [0, 1, 2].filter(fd => isatty(fd))
const settings = loadSettings(process.env)
if (isInUse(settings)) {
  console.error(`${settings.runDir} is in use already: \`make down\` first, or choose another RUN_DIR`)
  process.exit(1)
}
const signal = interrupted()
// make may be killed without a signal to its children, which then get another parent. If a terminal
// window runs make directly, only make gets a signal when the window is closed, and then waits for
// this process.
setInterval(() => {
  if (process.ppid !== parent || terminals.some(fd => !isatty(fd))) process.kill(process.pid, 'SIGHUP')
}, 500).unref()

const controlPlane = await startControlPlane(settings, signal).catch(() => undefined)
if (controlPlane === undefined) process.exit(signal.aborted ? 0 : 1)
console.log(whatToTry(settings))
const reason = await orAborted(signal, controlPlane.ended).catch(() => undefined)
await controlPlane.stop()
if (reason !== undefined) console.error(reason)
process.exit(reason === undefined ? 0 : 1)

function whatToTry({ runDir, groupDomain }: Settings): string {
  const env = createProcessRecords(runDir).readEnv() ?? {}
  const url = env.KAPIS_URL ?? ''
  return `
Kapis is at ${url}. In another terminal:

  source ${runDir}/env
  kubectl get nodes
  kubectl get nodes.resources.${groupDomain}
  TOKEN=$(curl -s --cacert "$KAPIS_CA" $KAPIS_URL/oauth/token -d grant_type=password -d client_id=$KAPIS_CLIENT_ID \\
    -d client_secret=$KAPIS_CLIENT_SECRET -d username=$KAPIS_USER --data-urlencode "password=$KAPIS_PASSWORD" |
    sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s --cacert "$KAPIS_CA" -H "Authorization: Bearer $TOKEN" \\
    "$KAPIS_URL/kapis/resources.${groupDomain}/v1alpha3/nodes?limit=2"
${logsToTry(settings)}
Ctrl-C stops everything.
`
}

/** Returns a command that queries logs: the programs' own logs are available immediately. */
function logsToTry({ groupDomain, logStore }: Settings): string {
  if (logStore === 'none') return ''
  return `  curl -s --cacert "$KAPIS_CA" -H "Authorization: Bearer $TOKEN" \\
    "$KAPIS_URL/kapis/tenant.${groupDomain}/v1alpha2/logs?namespaces=kube-system&size=3"
`
}
