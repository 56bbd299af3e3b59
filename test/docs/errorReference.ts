// Generates the error reference from the error table; docs/errors.md must equal it (test/http/kernel/errorReference.test.ts).
import { ERRORS, errorType } from '../../http/kernel/errors.ts';

export const errorReference = (): string => {
  const byStatus = Object.entries(ERRORS).toSorted(([, a], [, b]) => a.status - b.status);
  const rows = byStatus.map(
    ([code, { status, when }]) => `| ${status} | \`${errorType(status)}\` | \`${code}\` | ${when} |`,
  );
  return `# Errors

Every error answer has this body, and its \`request_id\` is also in the header \`X-Request-Id\`:

    {"error": {"type": "…", "code": "…", "message": "…", "param": "…", "details": [{"param": "…", "message": "…"}]}, "request_id": "…"}

Branch on \`code\`; \`message\` is for people and may change. \`param\` is there when one field is at fault, \`details\` lists all problems of
a validation.

| HTTP | type | code | when |
|---|---|---|---|
${rows.join('\n')}
`;
};
