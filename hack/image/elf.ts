/** What of a section header is needed here (ELF-64: offsets of the gABI, chapter 4). */
type Section = {
  readonly header: Buffer
  readonly name: string
  readonly isLoaded: boolean
  readonly end: number
}

const headerSize = 64
const noBits = 8
const loaded = 2n

/**
 * A program or library without what is never loaded: symbols and debugging information, as `strip` does. The bytes that are loaded stay as they are
 * and where they are, the dynamic symbols among them, which native modules need. For any machine, which binutils are not.
 *
 * @param file a 64-bit little-endian ELF file
 * @throws Error when it is none, or is laid out in another way than linkers do
 */
export function strip(file: Buffer): Buffer {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1)
    throw new Error('this is no 64-bit little-endian ELF file')
  const sections = readSections(file)
  const kept = sections.filter((section, i) => i === 0 || section.isLoaded)
  const end = Math.max(...kept.map(section => section.end), endOfSegments(file))
  const names = Buffer.from(`${kept.map(({ name }) => name).join('\0')}\0.shstrtab\0`, 'latin1')
  const table = Math.ceil((end + names.length) / 8) * 8
  const stripped = Buffer.alloc(table + (kept.length + 1) * headerSize)
  file.copy(stripped, 0, 0, end)
  names.copy(stripped, end)

  const place = new Map(kept.map((section, i) => [sections.indexOf(section), i]))
  const indexed = (old: number) => {
    const index = place.get(old)
    if (index === undefined)
      throw new Error(`a section that is loaded goes by one that is not, number ${old}`)
    return index
  }
  let nameAt = 0
  kept.forEach(({ header, name }, i) => {
    const at = table + i * headerSize
    header.copy(stripped, at)
    stripped.writeUInt32LE(nameAt, at)
    nameAt += name.length + 1
    stripped.writeUInt32LE(indexed(header.readUInt32LE(40)), at + 40)
    // Relocations name the section that they apply to, and say so by a flag where it is not the type that does.
    const flags = header.readBigUInt64LE(8)
    if ((flags & 0x40n) !== 0n) stripped.writeUInt32LE(indexed(header.readUInt32LE(44)), at + 44)
  })
  const own = table + kept.length * headerSize
  stripped.writeUInt32LE(nameAt, own)
  stripped.writeUInt32LE(3, own + 4)
  stripped.writeBigUInt64LE(BigInt(end), own + 24)
  stripped.writeBigUInt64LE(BigInt(names.length), own + 32)
  stripped.writeBigUInt64LE(1n, own + 48)

  stripped.writeBigUInt64LE(BigInt(table), 40)
  stripped.writeUInt16LE(kept.length + 1, 60)
  stripped.writeUInt16LE(kept.length, 62)
  return stripped
}

function readSections(file: Buffer): readonly Section[] {
  const table = Number(file.readBigUInt64LE(40))
  const count = file.readUInt16LE(60)
  const headers = Array.from({ length: count }, (_, i) =>
    file.subarray(table + i * headerSize, table + (i + 1) * headerSize),
  )
  const names = headers[file.readUInt16LE(62)]
  if (names === undefined) throw new Error('the file has no sections')
  const namesAt = Number(names.readBigUInt64LE(24))
  return headers.map(header => {
    const nameAt = namesAt + header.readUInt32LE(0)
    const size = header.readUInt32LE(4) === noBits ? 0 : Number(header.readBigUInt64LE(32))
    return {
      header,
      name: file.toString('latin1', nameAt, file.indexOf(0, nameAt)),
      isLoaded: (header.readBigUInt64LE(8) & loaded) !== 0n,
      end: Number(header.readBigUInt64LE(24)) + size,
    }
  })
}

/** Segments are what the kernel and the dynamic linker go by. */
function endOfSegments(file: Buffer): number {
  const table = Number(file.readBigUInt64LE(32))
  const size = file.readUInt16LE(54)
  const ends = Array.from({ length: file.readUInt16LE(56) }, (_, i) => {
    const at = table + i * size
    return Number(file.readBigUInt64LE(at + 8)) + Number(file.readBigUInt64LE(at + 32))
  })
  return Math.max(0, ...ends)
}
