using HaloPresence;
using Microsoft.Extensions.Hosting;

// appsettings.json lies beside the program, wherever it is started from; arguments as --Silo:Port 11112 override it.
var settings = new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory };
await Host.CreateApplicationBuilder(settings).AddHaloPresence().Build().RunAsync();
