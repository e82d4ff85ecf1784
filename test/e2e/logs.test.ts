import { describeLogs } from './log-cases.ts'

describeLogs('the embedded store', () => '')
