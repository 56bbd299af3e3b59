// Generates docs/routes.md from the route table.

import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { ROUTES } from '../../http/api/routes.ts';
import type { Principal } from '../../http/kernel/callers.ts';
import type { Route } from '../../http/kernel/route.ts';
import { cell, code, listed } from './markdown.ts';

const WHO: { readonly [P in Principal]: string } = {
  public: 'anybody',
  apiKey: 'an API key',
  testKey: 'a test key',
  anySession: 'any user',
  session: 'a member of an account',
  member: 'a member of an account, by cookie',
  platformMember: 'an operator, by cookie',
  anyMember: 'any user, by cookie',
  operator: 'an operator',
  monitor: 'the monitoring',
  provider: 'a provider',
  auditor: 'an auditor',
};

/** Errors that follow from the kind of a route. */
const GENERAL: readonly ErrorCode[] = [
  'internal_error',
  'invalid_json',
  'payload_too_large',
  'rate_limited',
  'service_unavailable',
  'unauthorized',
  'unsupported_media_type',
];

const bodyOf = ({ body }: Route): string => {
  if (body.kind === 'none') return '–';
  if (body.kind === 'json') return 'JSON';
  if (body.kind === 'form') return 'a form';
  if (body.kind === 'files') return `a form with files, at most ${body.bytesMax} bytes`;
  return `${body.contentTypes?.join(', ') ?? 'what the URL is for'}, at most ${body.bytesMax} bytes`;
};
const answersOf = ({ responses }: Route): string =>
  listed(
    Object.entries(responses).map(
      ([status, rule]) => `${status} ${rule.kind === 'bytes' ? rule.contentTypes.map(code).join(', ') : rule.kind}`,
    ),
  );

const rowOf = (route: Route): string => {
  const { method, path, summary, principal, headers, query, errors, reads } = route;
  return `| ${[
    `\`${method} ${path}\``,
    cell(summary),
    WHO[principal],
    listed([...Object.keys(headers), ...Object.keys(query).map((name) => `?${name}`)].map(code)),
    bodyOf(route),
    answersOf(route),
    listed(reads.map(code)),
    listed(
      errors
        .filter((one) => !GENERAL.includes(one))
        .toSorted()
        .map(code),
    ),
  ].join(' | ')} |`;
};

export const routesPage = (): string => {
  const groups = [...Map.groupBy(ROUTES, ({ tag }) => tag.name)].map(
    ([tag, routes]) => `## ${tag}

| route | | for | headers, query | body | answers | waits for | errors |
|---|---|---|---|---|---|---|---|
${routes.map(rowOf).join('\n')}
`,
  );
  return `# Routes

Every route that there is, ${ROUTES.length} in all. \`/openapi.json\` describes each parameter, body and answer; [contract.md](contract.md) is what
they promise, [errors.md](errors.md) explains the codes. "Waits for" names the read models that must have caught up with what was
acknowledged before the route answers. Beside the errors that are listed any route may answer \`rate_limited\`, \`service_unavailable\` and
\`internal_error\`; one that asks for a key \`unauthorized\`; and one with a JSON body \`invalid_json\`, \`payload_too_large\` and
\`unsupported_media_type\`.

${groups.join('\n')}`;
};
