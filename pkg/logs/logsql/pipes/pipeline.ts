import { isByRow, type Pipe } from '../query.ts'
import { createFacetsStage } from './facets-stage.ts'
import {
  createFieldNamesStage,
  createPatternsStage,
  createStatsStage,
  createTopStage,
  createUniqStage,
} from './group-stages.ts'
import { createRowChange } from './row-change.ts'
import { createRowStage } from './row-stages.ts'
import { createSortStage } from './sort-stage.ts'
import { type Budget, createNameTest, type Stage } from './stage.ts'

/** Creates the stages of pipes and returns the first. The last stage sends its rows to `next`. */
export function createPipeline(pipes: readonly Pipe[], next: Stage, budget: Budget): Stage {
  return pipes.reduceRight((behind, pipe) => createStage(pipe, behind, budget), next)
}

function createStage(pipe: Pipe, next: Stage, budget: Budget): Stage {
  if (isByRow(pipe)) return createRowStage(createRowChange(pipe), next)
  switch (pipe.kind) {
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

/** Reports whether a pipe emits at most one row per line, with the line's time. */
export function preservesTime(pipe: Pipe): boolean {
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
