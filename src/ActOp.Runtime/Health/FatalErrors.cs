using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace ActOp.Runtime.Health;

/// <summary>Tells the application's handler that the silo must end.</summary>
internal static class FatalErrors
{
    internal static void Tell(IServiceProvider services, SiloAddress silo, string reason)
    {
        if (services.GetService<IFatalErrorHandler>() is not { } handler)
            return;
        var error = new OrleansException(reason);
        if (handler.IsUnexpected(error))
            handler.OnFatalException(silo, reason, error);
    }
}
