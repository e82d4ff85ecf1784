import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { isListening } from './unix-socket.ts'

describe('isListening', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kapis-socket-'))
  after(() => rmSync(folder, { recursive: true }))

  it('distinguishes a socket with a listener from a stale file and a missing file', async () => {
    const [socket, file] = [join(folder, 'socket'), join(folder, 'file')]
    const server = createServer().listen(socket)
    await once(server, 'listening')
    expect(await isListening(socket)).to.equal(true)
    server.close()
    await once(server, 'close')
    expect(await isListening(socket)).to.equal(false)
    writeFileSync(file, '')
    expect(await isListening(file)).to.equal(false)
  })
})
