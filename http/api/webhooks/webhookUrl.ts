// Checks a webhook's URL in a body, by the same rules for endpoints and for a payment's webhookUrl (rules W5, W7).

import type { CodedProblem } from '../../../domain/charge/request.ts';
import type { ValidationContext } from '../../kernel/route.ts';

/** Returns why the URL in the field `param` is not allowed in the caller's mode. Without a URL, there is no problem. */
export const webhookUrlProblems = (
  param: string,
  url: string | undefined,
  { mode, services }: ValidationContext,
): readonly CodedProblem[] => {
  const verdict = url === undefined ? null : services.judgeWebhookUrl(url, mode);
  if (verdict === null) return [];
  return [{ code: 'invalid_url', param, message: verdict.message.replace(/^url /, '') }];
};
