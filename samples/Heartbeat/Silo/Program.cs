using Heartbeat;
using Microsoft.Extensions.Hosting;

// appsettings.json lies beside the program, wherever it is started from; arguments as --Stages:Controller Fixed override it.
var settings = new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory };
await Host.CreateApplicationBuilder(settings).AddHeartbeat().Build().RunAsync();
