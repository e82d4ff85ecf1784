import type { Running } from '../e2e/run.ts'
import type { ShipperScene } from './scene.ts'
import type { Shape } from './shapes.ts'

/** A program that follows a file. */
export type FileShipper = {
  readonly title: string
  /** Builds or finds the program, and starts it. */
  readonly start: (place: FollowedFile) => Promise<Running>
  /** What the shipper makes of a line, where that is not what was written. */
  readonly convert?: (shape: Shape) => Shape
  /**
   * Maximum number of lines that the shipper may send twice, since it does not send a batch that got no
   * answer again with the same bytes.
   */
  readonly repeats?: number
  /** The names of its own fields. */
  readonly adds?: RegExp
}

export type FollowedFile = {
  readonly scene: ShipperScene
  readonly file: string
  /** For configuration and state. */
  readonly folder: string
}
