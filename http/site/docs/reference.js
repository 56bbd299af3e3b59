// Shows the API reference in the house's looks: without Swagger UI's own bar, title and list of servers.
const place = document.querySelector('#reference');
const nothing = () => null;

// Swagger UI has dark colours for this class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

window.SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  layout: 'BaseLayout',
  plugins: [() => ({ components: { InfoContainer: nothing, ServersContainer: nothing } })],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  defaultModelRendering: 'example',
  displayRequestDuration: true,
  validatorUrl: null,
  // "Try it out" asks the server that the page came from, under whatever name it was reached.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.href);
    return { ...request, url: location.origin + pathname + search };
  },
});
