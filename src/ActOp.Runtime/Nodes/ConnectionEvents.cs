using ActOp.Foundation;
using Microsoft.Extensions.DependencyInjection;
using Orleans;

namespace ActOp.Runtime.Nodes;

/// <summary>
/// Tells the application how many silos a client is connected to: its <see cref="IClusterConnectionStatusObserver"/>s, and the handlers
/// that were added to the client builder.
/// </summary>
/// <remarks>
/// Owns the last number that was reported. One report at a time, from <see cref="ClientMembership"/>. If a handler throws
/// or cannot be created, the exception is logged and the others are called. A handler that blocks delays the next refresh.
/// </remarks>
internal sealed class ConnectionEvents(LocalNode local)
{
    private int _reported;

    internal void Report(int count)
    {
        var before = _reported;
        if (count == before)
            return;
        _reported = count;
        var isRecovered = before == 0 && count > 0;
        var change = new GatewayCountChangedEventArgs(count, before);
        CallAll<IClusterConnectionStatusObserver>(one => one.NotifyGatewayCountChanged(count, before, isRecovered));
        CallAll<GatewayCountChangedHandler>(one => one(Sender, change));
        if (count > 0)
            return;
        CallAll<IClusterConnectionStatusObserver>(static one => one.NotifyClusterConnectionLost());
        CallAll<ConnectionToClusterLostHandler>(one => one(Sender, EventArgs.Empty));
    }

    private IClusterClient? Sender => local.Services.GetService<IClusterClient>();

    private void CallAll<THandler>(Action<THandler> call)
    {
        try
        {
            foreach (var handler in local.Services.GetServices<THandler>())
                Call(handler, call);
        }
        catch (Exception exception)
        {
            // A handler could not be created.
            local.Log.ConnectionHandlerFailed(exception);
        }
    }

    private void Call<THandler>(THandler handler, Action<THandler> call)
    {
        try
        {
            call(handler);
        }
        catch (Exception exception)
        {
            local.Log.ConnectionHandlerFailed(exception);
        }
    }
}
