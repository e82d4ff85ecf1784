import type { Request, Response } from 'express'
import type { BrowserOptions } from '../browser/dependencies.ts'
import type { BrowserLogin } from '../browser/session.ts'
import { sendAuthorizationResponse } from './authorization-response.ts'
import { issueCode } from './code.ts'
import type { AuthorizeRequest, Target } from './request.ts'

type ApprovedRequest = {
  readonly target: Target
  readonly request: AuthorizeRequest
  readonly login: BrowserLogin
}

/** Redirects the browser to the client with a code for the login. */
export async function sendCode(
  { tools, issuer }: Pick<BrowserOptions, 'tools' | 'issuer'>,
  exchange: { readonly req: Request; readonly res: Response },
  { target, request, login }: ApprovedRequest,
): Promise<void> {
  const code = await issueCode(tools.internalJwts, {
    user: login.user.name,
    userUid: login.user.uid,
    clientId: target.client.name,
    redirectUri: target.givenRedirectUri,
    scope: { granted: request.scope, isAsked: request.isScopeAsked },
    challenge: request.challenge,
    nonce: request.nonce,
    authTime: login.authTime,
    amr: login.amr,
    provider: login.provider,
    browserSid: login.sid,
  })
  sendAuthorizationResponse(exchange, target, { code, iss: issuer })
}
