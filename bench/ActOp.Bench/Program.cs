using ActOp.Bench;

return await BenchCommands.Build().Parse(args).InvokeAsync();
