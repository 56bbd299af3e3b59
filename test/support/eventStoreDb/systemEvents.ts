// The events of a server’s first start, reduced to one of each kind, because a real $all is never empty.
export const FIRST_RECORDS: readonly { readonly stream: string; readonly type: string; readonly data: string }[] = [
  { stream: '$$$stats-127.0.0.1:2113', type: '$metadata', data: '{"$maxAge":86400}' },
  { stream: '$users', type: '$User', data: '"admin"' },
  { stream: '$$$user-admin', type: '$metadata', data: '{"$acl":{"$r":"$admins"}}' },
  { stream: '$user-admin', type: '$UserCreated', data: '{"loginName":"admin","groups":["$admins"]}' },
  { stream: '$user-ops', type: '$UserCreated', data: '{"loginName":"ops","groups":["$ops"]}' },
  { stream: '$projections-$all', type: '$ProjectionsInitialized', data: '{}' },
  { stream: '$stats-127.0.0.1:2113', type: '$statsCollected', data: '{"proc-cpu":0.5}' },
];
