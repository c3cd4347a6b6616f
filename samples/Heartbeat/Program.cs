using Heartbeat.Bench;

// What is measured: the application in Silo/. What measures it: bench/Heartbeat.Bench.
return await HeartbeatCommands.Build().Parse(args).InvokeAsync();
