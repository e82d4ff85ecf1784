import type { IncomingMessage, ServerResponse } from 'node:http'
import { http } from './node-http.ts'

type HeadHook = (code: number) => void
type ChunkHook = (bytes: Buffer) => void

/** The ServerResponse of Kapis, with hooks for filters (option `ServerResponse` of node:http). */
export class HookedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends http.ServerResponse<Request> {
  #firstLines: readonly string[] = []
  #headHooks: readonly HeadHook[] = []
  #chunkHooks: readonly ChunkHook[] = []

  /**
   * Adds a header to those that the handler writes. Unlike setHeader, it keeps headers that the
   * handler passes as a flat list in this form: Node.js would otherwise split the list and validate
   * each line three times.
   */
  addToHead(name: string, value: string): void {
    this.#firstLines = [...this.#firstLines, name, value]
  }

  /** Registers a callback for the status code, which runs when the headers are written. */
  onHead(hook: HeadHook): void {
    this.#headHooks = [...this.#headHooks, hook]
  }

  /** Registers a callback for each chunk of the body. */
  onChunk(hook: ChunkHook): void {
    this.#chunkHooks = [...this.#chunkHooks, hook]
  }

  override writeHead(code: number, ...rest: unknown[]): this {
    for (const hook of this.#headHooks) hook(code)
    const lines = rest.at(-1)
    if (Array.isArray(lines)) rest[rest.length - 1] = [...this.#firstLines, ...lines]
    else
      for (let i = 0; i < this.#firstLines.length; i += 2)
        this.setHeader(this.#firstLines[i] ?? '', this.#firstLines[i + 1] ?? '')
    Reflect.apply(super.writeHead, this, [code, ...rest])
    return this
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    this.#passOn(chunk, rest[0])
    return Reflect.apply(super.write, this, [chunk, ...rest])
  }

  override end(...args: unknown[]): this {
    this.#passOn(args[0], args[1])
    Reflect.apply(super.end, this, args)
    return this
  }

  #passOn(chunk: unknown, encoding: unknown): void {
    if (this.#chunkHooks.length === 0) return
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
    // The encoding may be omitted, with the callback in its place.
    const known = typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8'
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, known) : Buffer.from(chunk)
    for (const hook of this.#chunkHooks) hook(bytes)
  }
}

/** The IncomingMessage of Kapis, with a hook to observe the body (node:http option). */
export class HookedRequest extends http.IncomingMessage {
  #chunkHooks: readonly ChunkHook[] = []

  /** Registers a callback for chunks of the body as they arrive, for observation only. */
  onChunk(hook: ChunkHook): void {
    this.#chunkHooks = [...this.#chunkHooks, hook]
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (Buffer.isBuffer(chunk)) for (const hook of this.#chunkHooks) hook(Buffer.from(chunk))
    return super.push(chunk, encoding)
  }
}

/** @throws TypeError for a response that is not a {@link HookedResponse} */
export function hooksOf(res: ServerResponse): HookedResponse {
  if (res instanceof HookedResponse) return res
  throw new TypeError('the server creates responses without hooks')
}

/** @throws TypeError for a request that is not a {@link HookedRequest} */
export function requestHooksOf(req: IncomingMessage): HookedRequest {
  if (req instanceof HookedRequest) return req
  throw new TypeError('the server creates requests without hooks')
}

/** Options of a node:http server that uses these classes. */
export const hooked: {
  readonly IncomingMessage: typeof IncomingMessage
  readonly ServerResponse: typeof ServerResponse
} = { IncomingMessage: HookedRequest, ServerResponse: HookedResponse }
