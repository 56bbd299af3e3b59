// Names and addresses of this machine itself.

const LOOPBACK =
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(\.\d{1,3}){3}\]?|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/i;

/** `host` without a port; an IPv6 address with or without brackets, as text or as the URL parser writes it. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host);
