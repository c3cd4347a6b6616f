using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace HaloPresence.Cluster;

/// <summary>Sends the runtime's metrics and traces to an OpenTelemetry collector: what an application adds to have them.</summary>
public sealed class Telemetry : IDisposable
{
    private readonly MeterProvider _metrics;
    private readonly TracerProvider _traces;

    private Telemetry(Uri collector, string name)
    {
        ResourceBuilder resource = ResourceBuilder.CreateDefault().AddService("halo-presence", serviceInstanceId: name);
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
    }

    /// <summary>Starts to send, or does nothing when <paramref name="collector"/> is <c>none</c>.</summary>
    public static Telemetry? Start(string collector, string name) => collector == "none" ? null : new Telemetry(new Uri(collector), name);

    /// <inheritdoc/>
    public void Dispose()
    {
        _metrics.Dispose();
        _traces.Dispose();
    }
}
