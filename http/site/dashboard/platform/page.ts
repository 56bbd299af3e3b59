// Common parts of all operators' pages: the reader, and the frame around the content.
import type { Platform } from '../../../../application/capabilities.ts';
import { PLATFORM_PAGES, type PlatformCaller } from '../../../kernel/callers.ts';
import { type Content, PAGES, type Person, type PersonAsking, pageHeaders, personOf, saidOf } from '../page.ts';
import { platformFrame } from './frame.ts';

/** Common properties of operators' pages. */
export const ofOperator = { tag: PAGES, principal: 'platformMember' } as const;

/** An operator who requests a page. */
export interface Operator extends Person {
  readonly caller: PlatformCaller;
  readonly platform: Platform;
}

export const operatorOf = (context: PersonAsking<PlatformCaller>): Operator => ({
  ...personOf(context, PLATFORM_PAGES),
  caller: context.caller,
  platform: context.services.platform,
});

/** Returns the result of a page in its frame. */
export const shownToOperator = <Status extends 200 | 422>(
  status: Status,
  context: PersonAsking<PlatformCaller>,
  operator: Operator,
  { problem, ...content }: Content,
) => {
  const { language, texts } = operator;
  const done = context.query.done === undefined ? null : texts.done[context.query.done];
  const page = platformFrame({
    ...content,
    operator,
    notice: problem === undefined ? done : saidOf(problem, language),
    isProblem: problem !== undefined,
  });
  return { status, headers: pageHeaders(context, language), page };
};
