import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'

/** A fixed answer: what a Node.js HTTPS server can do at best. */
export type StaticAnswer = { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> }

/** Serves the answers by path, with a certificate of the same kind as kapis-apiserver's. */
export async function startStaticServer(
  answers: ReadonlyMap<string, StaticAnswer>,
  pair: { certPem: string; keyPem: string },
): Promise<{ url: string; server: Server }> {
  const server = createServer({ cert: pair.certPem, key: pair.keyPem }, (req, res) => {
    const answer = answers.get(req.url ?? '')
    if (answer === undefined) {
      res.writeHead(404).end()
      return
    }
    res.writeHead(200, { ...answer.headers, 'content-length': answer.body.length })
    res.end(answer.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return { url: `https://127.0.0.1:${address.port}`, server }
}

// Run as a program of its own, so that it has a process as kapis-apiserver has: answers come as files named on the command line.
if (process.argv[1]?.endsWith('static-server.ts')) {
  const [certFile = '', keyFile = '', ...files] = process.argv.slice(2)
  const answers = new Map(
    files.map(file => {
      const { path, headers, body } = JSON.parse(readFileSync(file, 'utf8'))
      return [String(path), { headers, body: Buffer.from(body, 'base64') }]
    }),
  )
  const pair = { certPem: readFileSync(certFile, 'utf8'), keyPem: readFileSync(keyFile, 'utf8') }
  const { url } = await startStaticServer(answers, pair)
  console.log(url)
}
