import { describeEvents } from './event-cases.ts'
import { describeLogs } from './log-cases.ts'

describeLogs('the embedded store', () => '')
describeEvents('the embedded store', () => '')
