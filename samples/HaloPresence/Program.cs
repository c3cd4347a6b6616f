using HaloPresence;

return await Commands.Build().Parse(args).InvokeAsync();
