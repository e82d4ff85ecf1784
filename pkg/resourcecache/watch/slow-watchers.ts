import type { Channel, Member } from './watch-channel.ts'

export type LagLimits = {
  /** Returns the time after which a client that reads no buffered data is disconnected. */
  readonly stallMs: () => number
  /** Maximum number of bytes that are buffered for all clients together. */
  readonly maxBytes: number
}

type Progress = { readonly leftBytes: number; readonly sinceMs: number }

// Clients with less buffered data are not disconnected.
const minBehindBytes = 256 * 1024

/** Disconnects clients that do not read, or have the most of too much data. */
export class LagGuard {
  readonly #limits: LagLimits
  readonly #progress = new WeakMap<Member, Progress>()

  constructor(limits: LagLimits) {
    this.#limits = limits
  }

  /** Must be called about once per second. */
  check(channels: Iterable<Channel>, now = performance.now()): void {
    const behind: { readonly channel: Channel; readonly bytes: number }[] = []
    let total = 0
    for (const channel of channels) {
      for (const member of channel.members) if (this.#isStalled(member, now)) member.out.destroy()
      const bytes = channel.behindBytes
      total += bytes
      if (bytes > minBehindBytes) behind.push({ channel, bytes })
    }
    behind.sort((a, b) => b.bytes - a.bytes)
    for (const { channel, bytes } of behind) {
      if (total <= this.#limits.maxBytes) return
      for (const { out, waitingBytes } of channel.members)
        if (out.writableLength + waitingBytes > minBehindBytes) out.destroy()
      total -= bytes
    }
  }

  #isStalled(member: Member, now: number): boolean {
    const { out, writtenBytes } = member
    const leftBytes = writtenBytes - out.writableLength
    const last = this.#progress.get(member)
    if (out.writableLength === 0 || last?.leftBytes !== leftBytes) {
      this.#progress.set(member, { leftBytes, sinceMs: now })
      return false
    }
    return now - last.sinceMs > this.#limits.stallMs()
  }
}
