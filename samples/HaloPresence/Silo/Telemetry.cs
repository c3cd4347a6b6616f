using Microsoft.Extensions.Hosting;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace HaloPresence;

/// <summary>Sends the runtime's metrics and traces to an OpenTelemetry collector: what an application adds to have them.</summary>
public sealed class Telemetry(Uri collector, string name) : IHostedService, IDisposable
{
    private MeterProvider? _metrics;
    private TracerProvider? _traces;

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken)
    {
        var resource = ResourceBuilder.CreateDefault().AddService("halo-presence", serviceInstanceId: name);
        _metrics = Sdk.CreateMeterProviderBuilder()
            .SetResourceBuilder(resource)
            .AddMeter("ActOp.*")
            .AddOtlpExporter((exporter, reader) =>
            {
                exporter.Endpoint = collector;
                reader.PeriodicExportingMetricReaderOptions.ExportIntervalMilliseconds = 5000;
            })
            .Build();
        // One request in a thousand is plenty at thousands a second.
        _traces = Sdk.CreateTracerProviderBuilder()
            .SetResourceBuilder(resource)
            .SetSampler(new ParentBasedSampler(new TraceIdRatioBasedSampler(0.001)))
            .AddSource("ActOp.Runtime")
            .AddOtlpExporter(exporter => exporter.Endpoint = collector)
            .Build();
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public void Dispose()
    {
        _metrics?.Dispose();
        _traces?.Dispose();
    }
}
