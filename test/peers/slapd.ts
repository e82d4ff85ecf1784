import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'ldapts'
import { createPortFinder } from '../../hack/controlplane/processes/ports.ts'
import { createCa, issueCertificate } from '../../pkg/certs/issue.ts'

export const suffix = 'dc=example,dc=com'
export const people = `ou=people,${suffix}`
export const groups = `ou=groups,${suffix}`
export const manager = { dn: `cn=manager,${suffix}`, password: 'manager secret' }

const ca = createCa({ commonName: 'directory authority', validityDays: 1 })
const serving = issueCertificate(ca, {
  commonName: 'directory',
  dnsNames: ['localhost'],
  usages: ['server'],
  validityDays: 1,
})

type Attributes = Readonly<Record<string, string | readonly string[]>>

/**
 * Starts slapd of OpenLDAP on free loopback ports, with a certificate for `localhost` but no IP
 * address.
 */
export async function startSlapd(entries: readonly (readonly [dn: string, Attributes])[]) {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-slapd-'))
  const ports = createPortFinder()
  const [port, securePort] = [await ports.any(), await ports.any()]
  writeFileSync(join(folder, 'ca.pem'), ca.certPem)
  writeFileSync(join(folder, 'cert.pem'), serving.certPem)
  writeFileSync(join(folder, 'key.pem'), serving.keyPem, { mode: 0o600 })
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'slapd.conf'), toConfiguration(folder))
  writeFileSync(join(folder, 'entries.ldif'), toLdif([...tree, ...entries]))
  // A copy of the program: the AppArmor profile of Ubuntu applies to the original path, and allows
  // only files in /etc/ldap and /var/lib/ldap.
  const program = join(folder, 'slapd')
  copyFileSync('/usr/sbin/slapd', program)
  const files = ['-f', join(folder, 'slapd.conf')]
  execFileSync(program, ['-Tadd', ...files, '-l', join(folder, 'entries.ldif')], { stdio: 'pipe' })
  const urls = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${securePort}/`
  const child = spawn(program, [...files, '-h', urls, '-d', '0'], { stdio: 'ignore' })
  await untilItResponds(port, child)

  async function asManager<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ url: `ldap://127.0.0.1:${port}`, timeout: 5_000 })
    try {
      await client.bind(manager.dn, manager.password)
      return await work(client)
    } finally {
      await client.unbind()
    }
  }

  return {
    port,
    securePort,
    caPem: ca.certPem,
    asManager,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGTERM')
        await exited
      }
      ports.release()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Slapd = Awaited<ReturnType<typeof startSlapd>>

/** Returns an inetOrgPerson with a password. */
export function person(uid: string, more: Attributes = {}): [string, Attributes] {
  const attributes = { objectClass: 'inetOrgPerson', uid, cn: uid, sn: uid, mail: `${uid}@example.com` }
  // Escaping of RFC 4514 section 2.4.
  const escaped = uid.replace(/[\\,+"<>;=#]/g, '\\$&')
  return [`uid=${escaped},${people}`, { ...attributes, userPassword: `${uid} secret`, ...more }]
}

const tree: readonly [string, Attributes][] = [
  [suffix, { objectClass: ['dcObject', 'organization'], o: 'Example', dc: 'example' }],
  [people, { objectClass: 'organizationalUnit', ou: 'people' }],
  [groups, { objectClass: 'organizationalUnit', ou: 'groups' }],
]

function toConfiguration(folder: string): string {
  return `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile ${folder}/slapd.pid
argsfile ${folder}/slapd.args
TLSCACertificateFile ${folder}/ca.pem
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
# What RFC 4513 section 5.1.2 warns of: a name without a password is authenticated as anonymous.
allow bind_anon_cred bind_anon_dn
database mdb
maxsize 10485760
suffix "${suffix}"
rootdn "${manager.dn}"
rootpw "${manager.password}"
directory ${folder}/data
overlay memberof
access to attrs=userPassword by anonymous auth by * none
access to * by * none
`
}

/** Formats entries as LDIF (RFC 2849), with every value in Base64. */
function toLdif(entries: readonly (readonly [string, Attributes])[]): string {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return entries
    .map(([dn, attributes]) => {
      const lines = Object.entries(attributes).flatMap(([name, values]) =>
        [values].flat().map(value => `${name}:: ${encode(value)}`),
      )
      return [`dn:: ${encode(dn)}`, ...lines].join('\n')
    })
    .join('\n\n')
}

async function untilItResponds(port: number, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 15_000
  for (;;) {
    const client = new Client({ url: `ldap://127.0.0.1:${port}`, timeout: 2_000 })
    try {
      await client.bind(manager.dn, manager.password)
      await client.unbind()
      return
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`slapd ended with ${child.exitCode}`)
      if (Date.now() > deadline) throw error
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}
