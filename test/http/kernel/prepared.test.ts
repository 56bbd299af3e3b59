// What the start prepares, so that no request has to wait for it (infrastructure/boot/app.ts).
import { expect } from 'chai';
import type { RouteContext } from '../../../http/kernel/route.ts';
import { prepareBody } from '../../../http/kernel/validation.ts';
import { allRoutes } from '../../../infrastructure/boot/app.ts';

const ROUTES = allRoutes({ publicUrl: 'https://pay.example.com', demoFile: null });
const ASKED = {
  query: {},
  params: {},
  prefers: { type: () => 'html', language: () => 'en', encoding: () => 'identity' },
};

describe('preparing routes', () => {
  it('compiles the schema of every body', () => {
    const bodies = ROUTES.flatMap(({ body }) => (body.kind === 'json' ? [body] : []));
    expect(bodies.length).to.be.above(40);
    for (const body of bodies) prepareBody(body);
  });

  it('renders every page of the documentation, with the same answer as unprepared', async () => {
    const isOfDocs = ({ path }: { readonly path: string }) => path === '/' || /^\/(docs|openapi\.json)/.test(path);
    const prepared = ROUTES.filter(({ prepare }) => prepare !== undefined);
    const withoutParams = ROUTES.filter((route) => isOfDocs(route) && !route.path.includes('{'));
    expect(prepared.map(({ path }) => path)).to.deep.equal(withoutParams.map(({ path }) => path));
    const others = new Map(
      allRoutes({ publicUrl: 'https://pay.example.com', demoFile: null }).map((route) => [route.path, route]),
    );
    for (const { path, prepare, handle } of prepared) {
      prepare?.();
      const asked = ASKED as unknown as RouteContext;
      expect(await handle(asked), path).to.deep.equal(await others.get(path)?.handle(asked));
    }
  });
});
