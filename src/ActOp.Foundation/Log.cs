using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace ActOp.Foundation;

/// <summary>
/// The runtime's log lines. Event ids: 1xx calls, 2xx activations, 3xx migration, 4xx network, 5xx cluster, 600 to 609 locality, 610 to
/// 639 refusals, from 640 on options, 7xx stages, 8xx background work.
/// </summary>
internal sealed partial class Log(ILogger logger)
{
    /// <summary>For the lines that a part writes itself.</summary>
    internal ILogger Logger => logger;

    [LoggerMessage(100, LogLevel.Warning, "The one-way call {method} to {grain} failed.")]
    private static partial void OneWayFailed(ILogger logger, string method, GrainId grain, Exception exception);

    [LoggerMessage(101, LogLevel.Warning, "The reply of {method} from {grain} could not be sent to {origin}.")]
    private static partial void ReplyLost(ILogger logger, string method, GrainId grain, SiloAddress origin, Exception exception);

    [LoggerMessage(102, LogLevel.Warning, "A reply for {origin} could not be relayed.")]
    private static partial void RelayFailed(ILogger logger, SiloAddress origin, Exception exception);

    [LoggerMessage(104, LogLevel.Warning, "{count} calls received no reply within their response timeout.")]
    private static partial void CallsExpired(ILogger logger, int count);

    [LoggerMessage(105, LogLevel.Warning, "{count} calls waited for {silo} and failed: {reason}.")]
    private static partial void CallsLost(ILogger logger, int count, SiloAddress silo, string reason);

    [LoggerMessage(106, LogLevel.Warning, "{count} requests were dropped because their callers no longer waited.")]
    private static partial void RequestsDropped(ILogger logger, long count);

    [LoggerMessage(107, LogLevel.Warning, "{count} one-way calls did not run. The last one was {method} to {grain}.")]
    private static partial void OneWayLost(ILogger logger, long count, string method, GrainId grain, Exception exception);

    [LoggerMessage(110, LogLevel.Warning, "{method} of {grain} has run for {seconds:F0} s.")]
    private static partial void RequestRunsLong(ILogger logger, GrainId grain, string method, double seconds);

    [LoggerMessage(111, LogLevel.Warning, "{method} has waited for {seconds:F0} s for {grain}, which has {count} requests.")]
    private static partial void RequestWaitsLong(ILogger logger, GrainId grain, string method, double seconds, int count);

    [LoggerMessage(112, LogLevel.Error, "{method} of {grain} has run for {seconds:F0} s: the activation is given up.")]
    private static partial void ActivationStuck(ILogger logger, GrainId grain, string method, double seconds);

    [LoggerMessage(113, LogLevel.Warning, "The certificate of TLS in {source} could not be read; {subject} remains in use.")]
    private static partial void CertificateKept(ILogger logger, string subject, string source, Exception exception);

    [LoggerMessage(114, LogLevel.Information, "The certificate of TLS was read again from {source}: {subject}, valid until {until}.")]
    private static partial void CertificateRead(ILogger logger, string subject, DateTime until, string source);

    [LoggerMessage(200, LogLevel.Warning,
        "A turn of {grain}{ofGroup} took {milliseconds} ms: it blocked a thread of the work stage. Move long computations and blocking "
            + "calls out of grains.")]
    private static partial void LongTurn(ILogger logger, GrainId grain, string ofGroup, long milliseconds);

    [LoggerMessage(1410, LogLevel.Information,
        "A step of the service {service} of this silo took {milliseconds} ms: the process was paused, or it had too few processors.")]
    private static partial void LongSystemTurn(ILogger logger, GrainId service, long milliseconds);

    [LoggerMessage(201, LogLevel.Error, "A turn of {grain} failed outside of a call.")]
    private static partial void TurnFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(202, LogLevel.Warning, "{grain} could not be activated; the calls that wait for it fail.")]
    private static partial void ActivationFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(203, LogLevel.Warning, "{grain} threw while it was deactivated.")]
    private static partial void DeactivationFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(204, LogLevel.Warning, "{grain} could not be removed from the directory.")]
    private static partial void UnregistrationFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(205, LogLevel.Warning, "The callback of a timer of {grain} threw; the timer continues.")]
    private static partial void TimerFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(206, LogLevel.Information, "{count} idle activations are being deactivated.")]
    private static partial void Collected(ILogger logger, int count);

    [LoggerMessage(207, LogLevel.Error, "An item of the stage {stage} threw.")]
    private static partial void StageFailed(ILogger logger, string stage, Exception exception);

    [LoggerMessage(208, LogLevel.Error, "The start or end of an activation of {grain} failed unexpectedly; the activation is removed.")]
    private static partial void LifeFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(209, LogLevel.Warning, "{step} of {grain} did not end within {limit}; the runtime no longer waits for it.")]
    private static partial void LeftBehind(ILogger logger, string step, GrainId grain, TimeSpan limit);

    [LoggerMessage(210, LogLevel.Warning, "{step} of {grain} threw after its time limit.")]
    private static partial void LateStepFailed(ILogger logger, string step, GrainId grain, Exception exception);

    [LoggerMessage(211, LogLevel.Warning, "A callback that {grain} registered on a cancellation token threw.")]
    private static partial void CancellationFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(212, LogLevel.Warning,
        "The directory did not answer for {grain}, which carries its state; the request is repeated.")]
    private static partial void RegistrationRepeated(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(1440, LogLevel.Warning,
        "{grain} has come from {source}, which has not said that it may begin here; the question is repeated.")]
    private static partial void ReleaseUnknown(ILogger logger, GrainId grain, SiloAddress source, Exception exception);

    [LoggerMessage(300, LogLevel.Warning, "{grain} could not be moved to {target}; it continues on this silo unless the silo stops.")]
    private static partial void MigrationFailed(ILogger logger, GrainId grain, SiloAddress target, Exception exception);

    [LoggerMessage(301, LogLevel.Warning, "{grain} threw in OnDehydrate; the rest of its state is moved.")]
    private static partial void DehydrationFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(302, LogLevel.Warning, "{grain} threw in OnRehydrate; the rest of its state is restored.")]
    private static partial void RehydrationFailed(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(303, LogLevel.Warning, "No target silo could be chosen for the migration of {grain}; it is not moved.")]
    private static partial void NoTarget(ILogger logger, GrainId grain, Exception exception);

    [LoggerMessage(401, LogLevel.Information, "Connected to {peer}.")]
    private static partial void PeerConnected(ILogger logger, SiloAddress peer);

    [LoggerMessage(402, LogLevel.Information, "Disconnected from {peer}: {reason}.")]
    private static partial void PeerDisconnected(ILogger logger, SiloAddress peer, string reason);

    [LoggerMessage(500, LogLevel.Information, "The silo {silo} is {status}.")]
    private static partial void SiloStatus(ILogger logger, SiloAddress silo, string status);

    [LoggerMessage(501, LogLevel.Information, "View {number}: {active} active silos; joined {joined}, left {left}.")]
    private static partial void ViewChanged(ILogger logger, long number, int active, string joined, string left);

    [LoggerMessage(502, LogLevel.Critical, "The silo {silo} must stop: {reason}")]
    private static partial void DeclaredDead(ILogger logger, SiloAddress silo, string reason);

    [LoggerMessage(503, LogLevel.Warning, "The membership table did not answer; the request is repeated.")]
    private static partial void TableFailed(ILogger logger, Exception exception);

    [LoggerMessage(505, LogLevel.Error,
        "The lease of {silo} expired: the membership table could not be reached in time. Its grains pause until it can be.")]
    private static partial void LeaseLost(ILogger logger, SiloAddress silo);

    [LoggerMessage(506, LogLevel.Warning, "{silo} is confirmed as a member again; its grains continue, {parked} of them had turns to run.")]
    private static partial void LeaseRegained(ILogger logger, SiloAddress silo, int parked);

    [LoggerMessage(507, LogLevel.Warning, "{silo} stops, but the membership table does not answer; the other silos must detect the stop.")]
    private static partial void LeftSilently(ILogger logger, SiloAddress silo);

    [LoggerMessage(508, LogLevel.Warning,
        "{silo} hosts the membership table again: it continues with table {table}, version {version}, recovered from {silos} silos.")]
    private static partial void TableRestored(ILogger logger, SiloAddress silo, long table, long version, int silos);

    [LoggerMessage(509, LogLevel.Error, "A membership step of {silo} failed; the next step is run: {step}.")]
    private static partial void ClusterStepFailed(ILogger logger, SiloAddress silo, string step, Exception exception);

    [LoggerMessage(510, LogLevel.Critical, "{silo} could not apply a change of the cluster and must stop: {step}.")]
    private static partial void ClusterFailed(ILogger logger, SiloAddress silo, string step, Exception exception);

    [LoggerMessage(511, LogLevel.Warning, "The client could not read the members of the cluster from a silo; it retries.")]
    private static partial void RefreshFailed(ILogger logger, Exception exception);

    [LoggerMessage(512, LogLevel.Warning, "A handler of connection events of the application failed.")]
    private static partial void ConnectionHandlerFailed(ILogger logger, Exception exception);

    [LoggerMessage(513, LogLevel.Warning,
        "{silo} does not say which grain classes it hosts; it gets no grains from this silo until it does. It is asked again.")]
    private static partial void ManifestMissing(ILogger logger, SiloAddress silo, Exception exception);

    [LoggerMessage(600, LogLevel.Information,
        "Exchange with {partner}: {moved} grains moved, {skipped} skipped; messages to other silos {before:F0}/s -> {after:F0}/s.")]
    private static partial void Exchanged(ILogger logger, SiloAddress partner, int moved, int skipped, double before, double after);

    [LoggerMessage(601, LogLevel.Information,
        "Locality does not move the grains of {grainClass}: they would lose their state in memory. Implement IGrainMigrationParticipant "
            + "to carry the state, mark the class [Movable] if the state may be lost, or [Immovable] if it must stay.")]
    private static partial void Unmovable(ILogger logger, Type grainClass);

    [LoggerMessage(610, LogLevel.Warning, "Refused {count} frames of {peer} ({reason}). The last one: {what}.")]
    private static partial void Refused(ILogger logger, long count, SiloAddress peer, string reason, string what, Exception? exception);

    [LoggerMessage(611, LogLevel.Warning, "The group {group} has refused {count} calls: {limit} is {value}. The last one: {what}.")]
    private static partial void GroupRefused(ILogger logger, string group, long count, string limit, double value, string what);

    [LoggerMessage(612, LogLevel.Warning,
        "GroupsOptions.Select failed for a grain of {grainClass}: {what}. Such grains are in the group of their class. Logged once for "
            + "each class.")]
    private static partial void GroupSelectorFailed(ILogger logger, Type grainClass, string what, Exception? exception);

    [LoggerMessage(613, LogLevel.Information,
        "{grainClass} has [Group(\"{group}\")], which has no effect: this silo has no groups (AddGroups).")]
    private static partial void GroupWithoutEffect(ILogger logger, Type grainClass, string group);

    [LoggerMessage(614, LogLevel.Warning,
        "Refused {count} calls and uses of streams across tenants. The last one: of {source}, to {target}: {what}.")]
    private static partial void TenantsSeparated(
        ILogger logger, long count, string source, string target, string what, Exception? exception);

    [LoggerMessage(615, LogLevel.Information,
        "{declaration} has [Channel(\"{channel}\")], which has no effect: there are no channels (AddChannels).")]
    private static partial void ChannelWithoutEffect(ILogger logger, string declaration, string channel);

    [LoggerMessage(616, LogLevel.Warning,
        "GroupsOptions.Cost failed for a request to a grain of {grainClass}: {what}. Such requests count as without cost. Logged once for "
            + "each class.")]
    private static partial void GroupCostFailed(ILogger logger, Type grainClass, string what, Exception? exception);

    [LoggerMessage(640, LogLevel.Warning, "The option {option} is set and has no effect: {reason}. See docs/migrating-from-orleans.md.")]
    private static partial void OptionWithoutEffect(ILogger logger, string option, string reason);

    [LoggerMessage(641, LogLevel.Warning, "{grain} has {count} requests or items that wait or run: {option} is {limit}.")]
    private static partial void LongQueue(ILogger logger, GrainId grain, int count, string option, int limit);

    [LoggerMessage(642, LogLevel.Warning, "{count} more activations have requests that run or wait for long, or long queues.")]
    private static partial void MoreWorkload(ILogger logger, int count);

    [LoggerMessage(643, LogLevel.Warning, "Turns wait for a thread of the work stage for {seconds:F0} s.")]
    private static partial void TurnsDelayed(ILogger logger, double seconds);

    [LoggerMessage(644, LogLevel.Warning, "{count} tasks of activations that have ended ran, the last one of {grain}.")]
    private static partial void LateWork(ILogger logger, long count, GrainId grain);

    [LoggerMessage(645, LogLevel.Warning,
        "{count} idle activations are being deactivated: {usage:F0} % of the memory is in use, more than {limit:F0} %.")]
    private static partial void ActivationsShed(ILogger logger, int count, double usage, double limit);

    [LoggerMessage(646, LogLevel.Warning, "{silo} is overloaded and refuses clients: processors {cpu:F0} %, memory {memory:F0} %.")]
    private static partial void Overloaded(ILogger logger, SiloAddress silo, double cpu, double memory);

    [LoggerMessage(647, LogLevel.Information, "{silo} is not overloaded any more and accepts clients.")]
    private static partial void OverloadEnded(ILogger logger, SiloAddress silo);

    [LoggerMessage(700, LogLevel.Information,
        "The {controller} controller sets the threads of the stages. Source of measurements: {source} ({reason}). It has {processors} "
            + "processors.")]
    private static partial void StagesControlled(ILogger logger, string controller, string source, string reason, double processors);

    [LoggerMessage(701, LogLevel.Debug, "Threads of {stages}: {before} -> {after} ({reason}).")]
    private static partial void StagesSized(ILogger logger, string stages, string before, string after, string reason);

    [LoggerMessage(800, LogLevel.Error, "Background work of {part} failed.")]
    private static partial void BackgroundFailed(ILogger logger, string part, Exception exception);

    [LoggerMessage(803, LogLevel.Warning, "The node stopped while background work was still running: {parts}.")]
    private static partial void BackgroundLeft(ILogger logger, string parts);

    [LoggerMessage(804, LogLevel.Warning, "{count} activations did not end in time; the silo stops without waiting for them: {grains}.")]
    private static partial void DrainGivenUp(ILogger logger, int count, string grains);

    [LoggerMessage(805, LogLevel.Warning, "The start failed, and stopping a started part failed too; the other parts are stopped.")]
    private static partial void StopFailed(ILogger logger, Exception exception);

    internal void OneWayFailed(string method, GrainId grain, Exception exception) => OneWayFailed(logger, method, grain, exception);

    internal void ReplyLost(string method, GrainId grain, SiloAddress origin, Exception exception) =>
        ReplyLost(logger, method, grain, origin, exception);

    internal void RelayFailed(SiloAddress origin, Exception exception) => RelayFailed(logger, origin, exception);

    internal void CallsExpired(int count) => CallsExpired(logger, count);

    internal void CallsLost(int count, SiloAddress silo, string reason) => CallsLost(logger, count, silo, reason);

    internal void RequestsDropped(long count) => RequestsDropped(logger, count);

    internal void OneWayLost(long count, string method, GrainId grain, Exception exception) =>
        OneWayLost(logger, count, method, grain, exception);

    internal void CertificateKept(string subject, string source, Exception exception) =>
        CertificateKept(logger, subject, source, exception);

    internal void CertificateRead(string subject, DateTime until, string source) => CertificateRead(logger, subject, until, source);

    internal void RequestRunsLong(GrainId grain, string method, double seconds) => RequestRunsLong(logger, grain, method, seconds);

    internal void RequestWaitsLong(GrainId grain, string method, double seconds, int count) =>
        RequestWaitsLong(logger, grain, method, seconds, count);

    internal void ActivationStuck(GrainId grain, string method, double seconds) => ActivationStuck(logger, grain, method, seconds);

    internal void LongQueue(GrainId grain, int count, string option, int limit) => LongQueue(logger, grain, count, option, limit);

    internal void MoreWorkload(int count) => MoreWorkload(logger, count);

    internal void TurnsDelayed(double seconds) => TurnsDelayed(logger, seconds);

    internal void LateWork(long count, GrainId grain) => LateWork(logger, count, grain);

    internal void ActivationsShed(int count, double usage, double limit) => ActivationsShed(logger, count, usage, limit);

    internal void Overloaded(SiloAddress silo, double cpu, double memory) => Overloaded(logger, silo, cpu, memory);

    internal void OverloadEnded(SiloAddress silo) => OverloadEnded(logger, silo);

    /// <summary>Of a grain or an observer, which the application can change, or of a service of the runtime.</summary>
    internal void LongTurn(GrainId grain, string? group, long milliseconds)
    {
        if (SystemGrainIds.IsControl(grain))
            LongSystemTurn(logger, grain, milliseconds);
        else
            LongTurn(logger, grain, group is null ? "" : " of the group " + group, milliseconds);
    }

    internal void TurnFailed(GrainId grain, Exception exception) => TurnFailed(logger, grain, exception);

    internal void ActivationFailed(GrainId grain, Exception exception) => ActivationFailed(logger, grain, exception);

    internal void DeactivationFailed(GrainId grain, Exception exception) => DeactivationFailed(logger, grain, exception);

    internal void UnregistrationFailed(GrainId grain, Exception exception) => UnregistrationFailed(logger, grain, exception);

    internal void RegistrationRepeated(GrainId grain, Exception exception) => RegistrationRepeated(logger, grain, exception);

    internal void ReleaseUnknown(GrainId grain, SiloAddress source, Exception exception) =>
        ReleaseUnknown(logger, grain, source, exception);

    internal void TimerFailed(GrainId grain, Exception exception) => TimerFailed(logger, grain, exception);

    internal void Collected(int count) => Collected(logger, count);

    internal void StageFailed(string stage, Exception exception) => StageFailed(logger, stage, exception);

    internal void LifeFailed(GrainId grain, Exception exception) => LifeFailed(logger, grain, exception);

    internal void LeftBehind(string step, GrainId grain, TimeSpan limit) => LeftBehind(logger, step, grain, limit);

    internal void LateStepFailed(string step, GrainId grain, Exception exception) => LateStepFailed(logger, step, grain, exception);

    internal void CancellationFailed(GrainId grain, Exception exception) => CancellationFailed(logger, grain, exception);

    internal void NoTarget(GrainId grain, Exception exception) => NoTarget(logger, grain, exception);

    internal void MigrationFailed(GrainId grain, SiloAddress target, Exception exception) =>
        MigrationFailed(logger, grain, target, exception);

    internal void DehydrationFailed(GrainId grain, Exception exception) => DehydrationFailed(logger, grain, exception);

    internal void RehydrationFailed(GrainId grain, Exception exception) => RehydrationFailed(logger, grain, exception);

    internal void GroupWithoutEffect(Type grainClass, string group) => GroupWithoutEffect(logger, grainClass, group);

    internal void ChannelWithoutEffect(string declaration, string channel) =>
        ChannelWithoutEffect(logger, declaration, channel);

    internal void GroupRefused(string group, long count, string limit, double value, string what) =>
        GroupRefused(logger, group, count, limit, value, what);

    internal void GroupSelectorFailed(Type grainClass, string what, Exception? exception) =>
        GroupSelectorFailed(logger, grainClass, what, exception);

    internal void GroupCostFailed(Type grainClass, string what, Exception? exception) =>
        GroupCostFailed(logger, grainClass, what, exception);

    internal void TenantsSeparated(long count, string source, string target, string what, Exception? exception) =>
        TenantsSeparated(logger, count, source, target, what, exception);

    internal void Refused(SiloAddress peer, string reason, long count, string what, Exception? exception) =>
        Refused(logger, count, peer, reason, what, exception);

    internal void PeerConnected(SiloAddress peer) => PeerConnected(logger, peer);

    internal void PeerDisconnected(SiloAddress peer, string reason) => PeerDisconnected(logger, peer, reason);

    internal void OptionWithoutEffect(string option, string reason) => OptionWithoutEffect(logger, option, reason);

    internal void SiloStatus(SiloAddress silo, string status) => SiloStatus(logger, silo, status);

    internal void ViewChanged(long number, int active, string joined, string left) =>
        ViewChanged(logger, number, active, joined.Length == 0 ? "none" : joined, left.Length == 0 ? "none" : left);

    internal void DeclaredDead(SiloAddress silo, string reason) => DeclaredDead(logger, silo, reason);

    internal void TableFailed(Exception exception) => TableFailed(logger, exception);

    internal void ManifestMissing(SiloAddress silo, Exception exception) => ManifestMissing(logger, silo, exception);

    internal void LeaseLost(SiloAddress silo) => LeaseLost(logger, silo);

    internal void LeaseRegained(SiloAddress silo, int parked) => LeaseRegained(logger, silo, parked);

    internal void LeftSilently(SiloAddress silo) => LeftSilently(logger, silo);

    internal void TableRestored(SiloAddress silo, long table, long version, int silos) =>
        TableRestored(logger, silo, table, version, silos);

    internal void ClusterStepFailed(SiloAddress silo, string step, Exception exception) => ClusterStepFailed(logger, silo, step, exception);

    internal void ClusterFailed(SiloAddress silo, string step, Exception exception) => ClusterFailed(logger, silo, step, exception);

    internal void RefreshFailed(Exception exception) => RefreshFailed(logger, exception);

    internal void ConnectionHandlerFailed(Exception exception) => ConnectionHandlerFailed(logger, exception);

    internal void Exchanged(SiloAddress partner, int moved, int skipped, double before, double after) =>
        Exchanged(logger, partner, moved, skipped, before, after);

    internal void Unmovable(Type grainClass) => Unmovable(logger, grainClass);

    internal void StagesControlled(string controller, string source, string reason, double processors) =>
        StagesControlled(logger, controller, source, reason, processors);

    internal void StagesSized(string stages, string before, string after, string reason) =>
        StagesSized(logger, stages, before, after, reason);

    internal void BackgroundFailed(string part, Exception exception) => BackgroundFailed(logger, part, exception);

    internal void BackgroundLeft(string parts) => BackgroundLeft(logger, parts);

    internal void DrainGivenUp(int count, string grains) => DrainGivenUp(logger, count, grains);

    internal void StopFailed(Exception exception) => StopFailed(logger, exception);
}
