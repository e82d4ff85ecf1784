/**
 * Makes one of the pieces of an answer, as they come: of a batch of thousands of lines all of them together would outlive quick
 * collections.
 *
 * @returns all of it, in memory that has nothing else in it
 */
export type AnswerWriter = (pieces: Iterable<string | Uint8Array>) => Buffer

// So much is written in one go: leaving JavaScript costs more than a line of it.
const turnLength = 8192
const keptBytes = 4 * 1024 * 1024

export function createAnswerWriter(): AnswerWriter {
  let memory = Buffer.allocUnsafeSlow(turnLength)

  return pieces => {
    let used = 0
    let text = ''

    function reserve(size: number): void {
      if (used + size <= memory.length) return
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * memory.length, used + size))
      memory.copy(larger, 0, 0, used)
      memory = larger
    }

    function writeText(): void {
      // Three bytes of UTF-8 at most for each unit of UTF-16.
      reserve(3 * text.length)
      used += memory.write(text, used)
      text = ''
    }

    for (const piece of pieces) {
      if (typeof piece === 'string') {
        text += piece
        if (text.length > turnLength) writeText()
      } else {
        writeText()
        reserve(piece.length)
        memory.set(piece, used)
        used += piece.length
      }
    }
    writeText()
    const answer = Buffer.allocUnsafeSlow(used)
    memory.copy(answer, 0, 0, used)
    // One large answer is no reason to keep that much.
    if (memory.length > keptBytes) memory = Buffer.allocUnsafeSlow(turnLength)
    return answer
  }
}
