import type { RunningCommand } from '../e2e/run.ts'
import type { ShipperScene } from './scene.ts'
import type { Shape } from './shapes.ts'

/** A log shipper that follows a file. */
export type FileShipper = {
  readonly title: string
  /** Builds or finds the program, and starts it. */
  readonly start: (place: FollowedFile) => Promise<RunningCommand>
  /** The expected lines whose content the shipper changes. */
  readonly convert?: (shape: Shape) => Shape
  /**
   * Maximum number of lines that the shipper may send twice, because it resends a batch without a
   * response with other bytes.
   */
  readonly repeats?: number
  /** Names of the fields that the shipper adds. */
  readonly adds?: RegExp
}

export type FollowedFile = {
  readonly scene: ShipperScene
  readonly file: string
  /** Folder for configuration and state. */
  readonly folder: string
}
