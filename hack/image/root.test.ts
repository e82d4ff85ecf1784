import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../controlplane/settings.ts'

// Folders as Debian's with Node.js has them, for both machines; a real one is what make image builds upon.
describe('root.sh', function () {
  this.timeout(20_000)
  // It is a part of a build on Debian, and asks for GNU's tools.
  if (process.platform !== 'linux') return
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kapis-root-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const packages = ['base-files', 'gcc-12-base', 'libc6', 'libgcc-s1', 'libstdc++6']
  const plain = ['libc.so.6', 'libdl.so.2', 'libgcc_s.so.1', 'libm.so.6', 'libpthread.so.0', 'librt.so.1']

  function debian(machine: string, installed = packages) {
    const write = (name: string, text = name) => {
      mkdirSync(join(folder, 'from', dirname(name)), { recursive: true })
      writeFileSync(join(folder, 'from', name), text)
    }
    const link = (name: string, target: string) => symlinkSync(target, join(folder, 'from', name))
    const libraries = `usr/lib/${machine}-linux-gnu`
    for (const name of [...plain, 'libstdc++.so.6.0.30', 'libssl.so.3', 'gconv/libCNS.so'])
      write(join(libraries, name))
    link(join(libraries, 'libstdc++.so.6'), 'libstdc++.so.6.0.30')
    link('lib', 'usr/lib')
    if (machine === 'x86_64') {
      write(join(libraries, 'ld-linux-x86-64.so.2'))
      mkdirSync(join(folder, 'from/usr/lib64'))
      link('usr/lib64/ld-linux-x86-64.so.2', '/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2')
      link('lib64', 'usr/lib64')
    } else {
      write(join(libraries, 'ld-linux-aarch64.so.1'))
      link('usr/lib/ld-linux-aarch64.so.1', 'aarch64-linux-gnu/ld-linux-aarch64.so.1')
    }
    for (const name of [
      'usr/lib/os-release',
      'etc/nsswitch.conf',
      'etc/shadow',
      'usr/bin/sh',
      'usr/local/LICENSE',
    ])
      write(name)
    link('etc/os-release', '../usr/lib/os-release')
    for (const name of ['base-files', 'gcc-12-base', 'libc6', 'openssl']) {
      write(`usr/share/doc/${name}/copyright`)
      write(`usr/share/doc/${name}/changelog.gz`)
    }
    for (const name of ['libgcc-s1', 'libstdc++6']) link(`usr/share/doc/${name}`, 'gcc-12-base')
    const lines = [...installed, 'openssl', 'libc6-dev'].map(
      name => `Package: ${name}\nStatus: install ok installed\nVersion: 1\n`,
    )
    write('var/lib/dpkg/status', lines.join('\n'))
    mkdirSync(join(folder, 'from/usr/local/bin'))
    copyFileSync(process.execPath, join(folder, 'from/usr/local/bin/node'))
  }

  function run() {
    const args = [join(folder, 'from'), join(folder, 'to')]
    return spawnSync(join(repository, 'hack/image/root.sh'), args, { cwd: repository, encoding: 'utf8' })
  }
  const made = (name = '') => join(folder, 'to', name)
  // readdir follows links.
  const files = () =>
    spawnSync('find', [made(), '!', '-type', 'd', '-printf', '%P -> %l\n'], { encoding: 'utf8' })
      .stdout.trimEnd()
      .split('\n')
      .map(line => line.replace(/ -> $/, ''))
      .sort()

  for (const [machine, ...loader] of [
    [
      'x86_64',
      'lib64 -> usr/lib64',
      'usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
      'usr/lib64/ld-linux-x86-64.so.2 -> /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
    ],
    [
      'aarch64',
      'usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1',
      'usr/lib/ld-linux-aarch64.so.1 -> aarch64-linux-gnu/ld-linux-aarch64.so.1',
    ],
  ] as const)
    it(`takes what Node.js is linked with, its licences and its list, for ${machine}`, () => {
      debian(machine)
      const { status, stderr } = run()
      expect([status, stderr]).to.deep.equal([0, ''])
      const libraries = [...plain, 'libstdc++.so.6 -> libstdc++.so.6.0.30', 'libstdc++.so.6.0.30']
      expect(files()).to.deep.equal(
        [
          ...loader,
          ...libraries.map(name => `usr/lib/${machine}-linux-gnu/${name}`),
          ...packages.map(name => `var/lib/dpkg/status.d/${name}`),
          ...['base-files', 'gcc-12-base', 'libc6'].map(name => `usr/share/doc/${name}/copyright`),
          ...['libgcc-s1', 'libstdc++6'].map(name => `usr/share/doc/${name} -> gcc-12-base`),
          ...['etc/group', 'etc/nsswitch.conf', 'etc/os-release -> ../usr/lib/os-release', 'etc/passwd'],
          ...['lib -> usr/lib', 'usr/lib/os-release', 'usr/local/LICENSE', 'usr/local/bin/node'],
        ].sort(),
      )
      expect(readFileSync(made('var/lib/dpkg/status.d/libc6'), 'utf8')).to.equal(
        'Package: libc6\nStatus: install ok installed\nVersion: 1\n',
      )
      expect(lstatSync(made('tmp')).mode & 0o7777).to.equal(0o1777)
      expect(readFileSync(made('usr/local/bin/node')).subarray(-8_192).includes('\0.symtab\0')).to.equal(
        false,
      )
    })

  it('takes the licences that there are', () => {
    debian('x86_64')
    for (const name of ['libgcc-s1', 'libstdc++6']) rmSync(join(folder, 'from/usr/share/doc', name))
    const { status, stderr } = run()
    expect([status, stderr]).to.deep.equal([0, ''])
    expect(files().filter(name => name.startsWith('usr/share/doc'))).to.deep.equal([
      'usr/share/doc/base-files/copyright',
      'usr/share/doc/gcc-12-base/copyright',
      'usr/share/doc/libc6/copyright',
    ])
  })

  it('ends where a library is missing', () => {
    debian('x86_64')
    rmSync(join(folder, 'from/usr/lib/x86_64-linux-gnu/libm.so.6'))
    const { status, stderr } = run()
    expect([status, stderr]).to.deep.equal([1, `${join(folder, 'from')} has no libm.so.6\n`])
  })

  it('ends where a package is missing', () => {
    debian('x86_64', packages.slice(0, -1))
    const { status, stderr } = run()
    expect([status, stderr]).to.deep.equal([1, `${join(folder, 'from')} has no package libstdc++6\n`])
  })
})
