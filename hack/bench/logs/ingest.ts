import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { forEach } from '../../controlplane/for-each.ts'
import type { LineFile } from './lines.ts'

const senders = 4

/** Sends a file to `_bulk` over several connections. @returns lines per second */
export async function ingest({ file, batches, lines }: LineFile, url: string, token = ''): Promise<number> {
  const handle = await open(file)
  try {
    const start = performance.now()
    await forEach(0, batches.length, i => sendBatch(handle, batches[i], url, token), senders)
    return lines / ((performance.now() - start) / 1000)
  } finally {
    await handle.close()
  }
}

async function sendBatch(
  handle: FileHandle,
  batch: LineFile['batches'][number] | undefined,
  url: string,
  token: string,
): Promise<void> {
  const body = Buffer.alloc(batch?.length ?? 0)
  await handle.read(body, 0, body.length, batch?.offset)
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  }
  for (;;) {
    const response = await fetch(url, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.ok) return
    if (response.status !== 429)
      throw new Error(`${url} responded with ${response.status}: ${text.slice(0, 500)}`)
    await sleep(100)
  }
}
