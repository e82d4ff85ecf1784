import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { follow, type RunningCommand, scratch, setting } from '../e2e/run.ts'

export type ConsoleServer = { readonly url: string; readonly stop: () => Promise<void> }

/**
 * Starts the server of a built console. CONSOLE_DIR is a folder with `dist` and `server`, like
 * /opt/kubesphere/console in the image of KubeSphere's console. The server reads its configuration
 * next to its own code, so it runs in a copy of the folder.
 */
export async function startConsole(): Promise<ConsoleServer> {
  const source = setting('CONSOLE_DIR')
  if (!existsSync(join(source, 'dist/manifest.json')) || !existsSync(join(source, 'server/server.js')))
    throw new Error(
      `CONSOLE_DIR=${source}: expected a built console with dist/manifest.json and server/server.js`,
    )
  const folder = join(scratch, 'console')
  mkdirSync(folder)
  cpSync(join(source, 'server'), join(folder, 'server'), { recursive: true })
  for (const name of readdirSync(source))
    if (!['server', '.git'].includes(name)) symlinkSync(join(source, name), join(folder, name))
  const port = await freePort()
  const kapis = setting('KAPIS_URL')
  // A JSON document is valid YAML.
  const config = {
    server: {
      http: { hostname: '127.0.0.1', port },
      apiServer: {
        clientID: setting('KAPIS_CLIENT_ID'),
        clientSecret: setting('KAPIS_CLIENT_SECRET'),
        url: kapis,
        wsUrl: kapis.replace(/^http/, 'ws'),
      },
    },
  }
  writeFileSync(join(folder, 'server/local_config.yaml'), JSON.stringify(config))
  const running: RunningCommand = follow(process.execPath, ['server/server.js'], {
    cwd: folder,
    env: { NODE_ENV: 'production', NODE_EXTRA_CA_CERTS: setting('KAPIS_CA') },
  })
  await running.line(line => line.includes(`running at port ${port}`), 60_000)
  // The server sends the token of a user only from its second WebSocket on, so one is opened here.
  await new Promise(resolve => {
    new WebSocket(`ws://127.0.0.1:${port}/`).addEventListener('error', resolve)
  })
  return { url: `http://127.0.0.1:${port}`, stop: running.stop }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
