import { openSync, readFileSync, readSync } from 'node:fs'
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchEnv } from './env.ts'
import type { LineFile } from './log-lines.ts'

const senders = 4
const progressMs = 10_000

export type Answer = { readonly code: number; readonly body: string }
export type Send = (method: string, path: string, body?: Uint8Array) => Promise<Answer>
export type Side = { readonly name: string; readonly kapis: Send; readonly tenant: string }

export function sideOf(name: string, env: BenchEnv): Side {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(env.kapisCa) })
  const kapis = createSend((method, path, headers, done) => {
    const more = { authorization: `Bearer ${env.kapisToken}` }
    return request(`${env.kapisUrl}${path}`, { method, agent, headers: { ...headers, ...more } }, done)
  })
  return { name, kapis, tenant: `/kapis/tenant.${env.groupDomain}/v1alpha2/logs` }
}

export function createPlainSend(url: string): Send {
  const agent = new PlainAgent({ keepAlive: true })
  return createSend((method, path, headers, done) =>
    plainRequest(`${url}${path}`, { method, agent, headers }, done),
  )
}

type Open = (
  method: string,
  path: string,
  headers: Record<string, string | number>,
  done: (response: IncomingMessage) => void,
) => ClientRequest

function createSend(open: Open): Send {
  return (method, path, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const headers =
      body === undefined ? {} : { 'content-type': 'application/x-ndjson', 'content-length': body.length }
    const req = open(method, path, headers, async response => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ code: response.statusCode ?? 0, body: text })
    })
    req.on('error', reject)
    req.end(body)
    return promise
  }
}

/**
 * Sends all of a file over a few connections, and tells how far it is when that takes long.
 *
 * @returns lines a second
 */
export async function ingestAll(
  { file, batches, lines }: LineFile,
  send: Send,
  path: string,
): Promise<number> {
  const descriptor = openSync(file, 'r')
  // While lines were written nothing else ran here, and a connection may have been closed for having been idle.
  await sleep(100)
  const start = performance.now()
  let next = 0
  const sender = async (): Promise<void> => {
    for (let batch = batches[next++]; batch !== undefined; batch = batches[next++]) {
      const body = Buffer.allocUnsafe(batch.length)
      readSync(descriptor, body, 0, batch.length, batch.offset)
      for (
        let answer = await send('POST', path, body);
        answer.code !== 200;
        answer = await send('POST', path, body)
      ) {
        if (answer.code !== 429)
          throw new Error(`${path} answered ${answer.code}: ${answer.body.slice(0, 500)}`)
        await sleep(100)
      }
    }
  }
  const progress = setInterval(() => {
    const done = Math.min(next / batches.length, 1)
    const rate = (done * lines) / ((performance.now() - start) / 1000)
    console.log(`  ${Math.round(100 * done)} % of ${lines} lines sent, ${Math.round(rate)} lines/s`)
  }, progressMs)
  try {
    await Promise.all(Array.from({ length: senders }, sender))
  } finally {
    clearInterval(progress)
  }
  return lines / ((performance.now() - start) / 1000)
}

export function firstLine({ file, batches }: LineFile): Buffer {
  const bytes = Buffer.allocUnsafe(batches[0]?.length ?? 0)
  readSync(openSync(file, 'r'), bytes)
  const second = bytes.indexOf(10, bytes.indexOf(10) + 1)
  return bytes.subarray(0, second + 1)
}
