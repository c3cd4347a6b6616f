using Microsoft.Extensions.Hosting;

namespace ActOp.Testing;

/// <summary>The test says when a host starts and stops; signals to the process do not.</summary>
internal sealed class TestLifetime : IHostLifetime
{
    public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
