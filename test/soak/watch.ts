import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setting } from '../e2e/run.ts'

/** Opens a watch at kapis-apiserver that reads and discards events until it is closed. */
export async function openWatch(path: string, token: string): Promise<{ readonly close: () => void }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const options = {
    ca: readFileSync(setting('KAPIS_CA')),
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  } as const
  const req = request(new URL(path, setting('KAPIS_URL')), options, res => {
    res.on('error', () => undefined).resume()
    if (res.statusCode === 200) resolve()
    else reject(new Error(`a watch failed with ${res.statusCode}`))
  })
  req.on('error', reject)
  req.end()
  await promise
  return { close: () => req.destroy() }
}
