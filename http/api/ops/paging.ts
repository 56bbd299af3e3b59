// Lists of the platform: by cursor, where the last one of a page is the cursor of the next; or the first so many, with how many there are.
import { ACCOUNT } from '../../../domain/account/account.ts';
import { type AccountId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { anyInteger, boolean, described, exactly, listOf, orNull, string } from '../../kernel/jsonSchema.ts';
import { matching, wholeNumber } from '../../kernel/query.ts';

/** Query of a list that is not paged. */
export const upToThousand = wholeNumber('How many at most.', 1, 1_000, 100);
export const ofAccount = matching(
  'Of this account alone.',
  'an acct_ id',
  (text) => parsePrefixedId<AccountId>(text, ACCOUNT.idPrefix) ?? undefined,
);
export const total = described('Those beyond the limit included.', anyInteger);

/** Query of a list whose cursor `parse` reads. */
export const pageQuery = <Id>(what: string, parse: (text: string) => Id | null) => ({
  limit: wholeNumber('How many at most.', 1, 100, 25),
  startingAfter: matching(
    'The last one of the page before: `nextCursor` of its answer.',
    what,
    (text) => parse(text) ?? undefined,
    'invalid_cursor',
  ),
});

export const pageSchema = <Item extends Parameters<typeof listOf>[0]>(item: Item) =>
  exactly({ data: listOf(item), hasMore: boolean, nextCursor: orNull(string()) });

export const NO_CURSOR = reject('invalid_cursor', 'startingAfter names nothing that there is.', {
  param: 'startingAfter',
});

/** `found`: one more than the page has room for, where there are more. */
export const pageOf = <View extends { readonly id: string }>(found: readonly View[], limit: number) => {
  const data = found.slice(0, limit);
  const hasMore = found.length > limit;
  return { data, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null };
};
