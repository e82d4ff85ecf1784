import type { Paths } from '../../openapi/operation.ts'
import { documentPaths } from './documents.ts'
import { pagePaths } from './pages.ts'
import { personalAccessTokenPaths } from './personal-access-tokens.ts'
import { tokenPaths } from './tokens.ts'

/** Describes each route of kapis-oauth that kapis-apiserver forwards. */
export function oauthPaths(groupDomain: string): Paths {
  return { ...documentPaths(groupDomain), ...tokenPaths, ...personalAccessTokenPaths, ...pagePaths }
}
