import type { Pipe } from '../query.ts'
import { createFacetsStage } from './facets-stage.ts'
import {
  createFieldNamesStage,
  createPatternsStage,
  createStatsStage,
  createTopStage,
  createUniqStage,
} from './group-stages.ts'
import {
  addExtracted,
  addFormat,
  addLength,
  addMath,
  addUnpacked,
  createRowStage,
  keepFields,
  passFilter,
} from './row-stages.ts'
import { createSortStage } from './sort-stage.ts'
import { type Budget, createNameTest, type Stage } from './stage.ts'

/** Returns the first stage of a sequence of pipes, whose last stage sends its rows to `next`. */
export function createPipeline(pipes: readonly Pipe[], next: Stage, budget: Budget): Stage {
  return pipes.reduceRight((behind, pipe) => createStage(pipe, behind, budget), next)
}

function createStage(pipe: Pipe, next: Stage, budget: Budget): Stage {
  switch (pipe.kind) {
    case 'fields':
      return createRowStage(keepFields(pipe), next)
    case 'filter':
      return createRowStage(passFilter(pipe), next)
    case 'len':
      return createRowStage(addLength(pipe), next)
    case 'math':
      return createRowStage(addMath(pipe), next)
    case 'format':
      return createRowStage(addFormat(pipe), next)
    case 'extract':
      return createRowStage(addExtracted(pipe), next)
    case 'unpack':
      return createRowStage(addUnpacked(pipe), next)
    case 'limit':
      return createLimit(pipe.count, next)
    case 'offset':
      return createOffset(pipe.count, next)
    case 'sort':
      return createSortStage(pipe, next, budget)
    case 'uniq':
      return createUniqStage(pipe, next, budget)
    case 'top':
      return createTopStage(pipe, next, budget)
    case 'stats':
      return createStatsStage(pipe, next, budget)
    case 'patterns':
      return createPatternsStage(pipe, next)
    case 'facets':
      return createFacetsStage(pipe, next, budget)
    case 'fieldNames':
      return createFieldNamesStage(pipe, next, budget)
  }
}

function createLimit(count: number, next: Stage): Stage {
  let passed = 0
  return {
    push: row => {
      if (passed >= count) return false
      passed += 1
      return next.push(row) && passed < count
    },
    end: next.end,
  }
}

function createOffset(count: number, next: Stage): Stage {
  let passed = 0
  return {
    push: row => {
      passed += 1
      return passed <= count || next.push(row)
    },
    end: next.end,
  }
}

/** Whether a pipe handles each row separately, so that the order of lines is preserved. */
export function isByRow({ kind }: Pipe): boolean {
  return ['fields', 'filter', 'len', 'math', 'format', 'extract', 'unpack'].includes(kind)
}

/** Whether the output of a pipe has one row per line, with its time. */
export function keepsTime(pipe: Pipe): boolean {
  switch (pipe.kind) {
    case 'fields':
      return createNameTest(pipe.fields)('_time')
    case 'len':
    case 'format':
      return pipe.result !== '_time'
    case 'math':
      return pipe.entries.every(({ result }) => result !== '_time')
    case 'extract':
      return pipe.steps.every(({ field }) => field !== '_time')
    default:
      return isByRow(pipe)
  }
}
