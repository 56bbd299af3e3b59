// Common parts of the operators' routes: their chapter of the reference, and lists, paged by a cursor (the id of a page's last item) or cut
// at a limit and with a total.
import { ACCOUNT } from '../../../domain/account/account.ts';
import { type AccountId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching, wholeNumber } from '../../kernel/query.ts';
import type { Tag } from '../../kernel/route.ts';

/** The chapter of the API reference that contains these routes. */
export const PLATFORM: Tag = {
  name: 'Platform',
  description:
    'Administration of accounts, users, keys, jobs and the event log by operators of the platform. These operations require the token of an OPERATOR.',
};

/** The common properties of routes for operators. */
export const FOR_OPERATORS = { tag: PLATFORM, principal: 'operator' } as const;

/** The `limit` of a list without pages. */
export const upToThousand = wholeNumber('The maximum number of items to return.', 1, 1_000, 100);
export const ofAccount = matching(
  'Only items of this account.',
  'an acct_ id',
  (text) => parsePrefixedId<AccountId>(text, ACCOUNT.idPrefix) ?? undefined,
);
export const total = s.described('The total number, including items beyond the limit.', s.anyInteger);

/** The query of a paged list. `parse` reads the cursor and returns null if it is invalid. */
export const pageQuery = <Id>(what: string, parse: (text: string) => Id | null) => ({
  limit: wholeNumber('The maximum number of items to return.', 1, 100, 25),
  startingAfter: matching(
    'The `nextCursor` of the previous page.',
    what,
    (text) => parse(text) ?? undefined,
    'invalid_cursor',
  ),
});

export const pageSchema = <Item extends Parameters<typeof s.listOf>[0]>(item: Item) =>
  s.exactly({ data: s.listOf(item), hasMore: s.boolean, nextCursor: s.orNull(s.string()) });

export const NO_CURSOR = reject('invalid_cursor', 'startingAfter does not match an existing item.', {
  param: 'startingAfter',
});

/** Returns a page of at most `limit` items. `found` contains one more item if there is a next page. */
export const pageOf = <View extends { readonly id: string }>(found: readonly View[], limit: number) => {
  const data = found.slice(0, limit);
  const hasMore = found.length > limit;
  return { data, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null };
};
